#include "tests/support/faulty_communicator.h"

#include <utility>

namespace trireme::test {
namespace {

using Clock = std::chrono::steady_clock;
using Operation = parallel::Communicator::Operation;

// Owns what it sends: the harmed copy of a message.
class OwningOperation : public Operation {
 public:
  OwningOperation(parallel::Communicator& inner, std::vector<std::byte> bytes, int destination, parallel::Tag tag)
      : bytes_(std::move(bytes)), operation_(inner.isend(bytes_, destination, tag)) {}
  bool test() override { return operation_->test(); }
  std::size_t received_bytes() const override { return 0; }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<Operation> operation_;
};

class NothingSent : public Operation {
 public:
  bool test() override { return true; }
  std::size_t received_bytes() const override { return 0; }
};

class DelayedOperation : public Operation {
 public:
  DelayedOperation(parallel::Communicator& inner, Clock::time_point due, std::span<const std::byte> bytes,
                   int destination, parallel::Tag tag)
      : inner_(inner), due_(due), bytes_(bytes.begin(), bytes.end()), destination_(destination), tag_(tag) {}
  bool test() override {
    if (operation_ == nullptr && Clock::now() < due_) return false;
    if (operation_ == nullptr) operation_ = inner_.isend(bytes_, destination_, tag_);
    return operation_->test();
  }
  std::size_t received_bytes() const override { return 0; }

 private:
  parallel::Communicator& inner_;
  Clock::time_point due_;
  std::vector<std::byte> bytes_;
  int destination_;
  parallel::Tag tag_;
  std::unique_ptr<Operation> operation_;
};

class TwoOperations : public Operation {
 public:
  TwoOperations(std::unique_ptr<Operation> first, std::unique_ptr<Operation> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  bool test() override { return first_->test() && second_->test(); }
  std::size_t received_bytes() const override { return 0; }

 private:
  std::unique_ptr<Operation> first_, second_;
};

}  // namespace

std::unique_ptr<Operation> FaultyCommunicator::isend(std::span<const std::byte> bytes, int destination,
                                                     parallel::Tag tag) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  const auto send = [&](std::vector<std::byte> message) {
    return std::make_unique<OwningOperation>(inner_, std::move(message), destination, tag);
  };
  const bool chosen = tag == tag_ && num_sends_++ == nth_;
  if (chosen && fault_ == Fault::kDelay) delayed_until_ = Clock::now() + std::chrono::milliseconds(50);
  if (tag == tag_ && delayed_until_ != Clock::time_point{}) {  // what follows waits, too: the network keeps the order
    return std::make_unique<DelayedOperation>(inner_, delayed_until_, bytes, destination, tag);
  }
  if (!chosen) {
    if (tag != tag_ || held_.empty()) return inner_.isend(bytes, destination, tag);
    auto first = send(std::move(copy));
    return std::make_unique<TwoOperations>(std::move(first), send(std::exchange(held_, {})));
  }
  switch (fault_) {
    case Fault::kNone:
    case Fault::kDelay: return send(std::move(copy));
    case Fault::kDrop: return std::make_unique<NothingSent>();
    case Fault::kDuplicate: {
      auto first = send(copy);
      return std::make_unique<TwoOperations>(std::move(first), send(std::move(copy)));
    }
    case Fault::kFlipBit: copy[copy.size() / 2] ^= std::byte{1}; return send(std::move(copy));
    case Fault::kTruncate: copy.pop_back(); return send(std::move(copy));
    case Fault::kSwapWithNext: held_ = std::move(copy); return std::make_unique<NothingSent>();
  }
  return nullptr;
}

}  // namespace trireme::test
