#include "parallel/in_process_communicator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

#include "base/check.h"
#include "parallel/error.h"

namespace trireme::parallel {
namespace {

struct Message {
  int source;
  Tag tag;
  std::vector<std::byte> bytes;
};

// A posted receive; guarded by the mutex of its mailbox.
struct Receive {
  int source;
  Tag tag;
  std::span<std::byte> buffer;
  bool done = false;
  std::size_t message_bytes = 0;

  bool matches(int message_source, Tag message_tag) const { return source == message_source && tag == message_tag; }
  void deliver(std::span<const std::byte> message) {
    message_bytes = message.size();
    if (message.size() <= buffer.size() && !message.empty()) {
      std::memcpy(buffer.data(), message.data(), message.size());
    }
    done = true;
  }
};

// What is on its way to one rank. Messages meet receives in the order of both, as in MPI.
struct Mailbox {
  std::mutex mutex;
  std::deque<std::shared_ptr<Receive>> receives;
  std::deque<Message> messages;

  void put(int source, Tag tag, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex);
    const auto receive = std::find_if(receives.begin(), receives.end(),
                                      [&](const auto& candidate) { return candidate->matches(source, tag); });
    if (receive == receives.end()) {
      messages.push_back({source, tag, {bytes.begin(), bytes.end()}});
      return;
    }
    (*receive)->deliver(bytes);
    receives.erase(receive);
  }

  void post(const std::shared_ptr<Receive>& receive) {
    const std::lock_guard lock(mutex);
    const auto message = std::find_if(messages.begin(), messages.end(), [&](const Message& candidate) {
      return receive->matches(candidate.source, candidate.tag);
    });
    if (message == messages.end()) {
      receives.push_back(receive);
      return;
    }
    receive->deliver(message->bytes);
    messages.erase(message);
  }

  void withdraw(const std::shared_ptr<Receive>& receive) {
    const std::lock_guard lock(mutex);
    std::erase(receives, receive);
  }

  bool is_done(const Receive& receive) {
    const std::lock_guard lock(mutex);
    return receive.done;
  }
};

using Mailboxes = std::vector<Mailbox>;

class SendOperation : public Communicator::Operation {
 public:
  bool test() override { return true; }
  std::size_t received_bytes() const override { return 0; }
};

class ReceiveOperation : public Communicator::Operation {
 public:
  ReceiveOperation(std::shared_ptr<Mailboxes> mailboxes, int rank, std::shared_ptr<Receive> receive)
      : mailboxes_(std::move(mailboxes)), rank_(rank), receive_(std::move(receive)) {
    mailbox().post(receive_);
  }
  ~ReceiveOperation() override { mailbox().withdraw(receive_); }

  bool test() override {
    if (!mailbox().is_done(*receive_)) return false;
    if (receive_->message_bytes > receive_->buffer.size()) {
      throw ParallelError("rank " + std::to_string(rank_) + ": message of " + std::to_string(receive_->message_bytes) +
                          " bytes from rank " + std::to_string(receive_->source) + " is longer than the buffer of " +
                          std::to_string(receive_->buffer.size()));
    }
    return true;
  }
  std::size_t received_bytes() const override { return receive_->message_bytes; }

 private:
  Mailbox& mailbox() { return (*mailboxes_)[static_cast<std::size_t>(rank_)]; }

  std::shared_ptr<Mailboxes> mailboxes_;
  int rank_;
  std::shared_ptr<Receive> receive_;
};

class InProcessCommunicator : public Communicator {
 public:
  InProcessCommunicator(std::shared_ptr<Mailboxes> mailboxes, int rank)
      : mailboxes_(std::move(mailboxes)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(mailboxes_->size()); }

  std::unique_ptr<Operation> isend(std::span<const std::byte> bytes, int destination, Tag tag) override {
    check_peer(destination);
    (*mailboxes_)[static_cast<std::size_t>(destination)].put(rank_, tag, bytes);
    return std::make_unique<SendOperation>();
  }

  std::unique_ptr<Operation> irecv(std::span<std::byte> bytes, int source, Tag tag) override {
    check_peer(source);
    auto receive = std::make_shared<Receive>(Receive{source, tag, bytes});
    return std::make_unique<ReceiveOperation>(mailboxes_, rank_, std::move(receive));
  }

 private:
  void check_peer(int peer) const { TRIREME_CHECK(peer >= 0 && peer < size()) << "rank " << peer << " of " << size(); }

  std::shared_ptr<Mailboxes> mailboxes_;
  int rank_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_in_process_communicators(int num_ranks) {
  TRIREME_CHECK(num_ranks > 0) << num_ranks;
  auto mailboxes = std::make_shared<Mailboxes>(static_cast<std::size_t>(num_ranks));
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < num_ranks; ++rank) {
    communicators.push_back(std::make_unique<InProcessCommunicator>(mailboxes, rank));
  }
  return communicators;
}

}  // namespace trireme::parallel
