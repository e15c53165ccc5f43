#include "parallel/mpi_communicator.h"

#include <array>
#include <chrono>
#include <climits>
#include <deque>
#include <exception>
#include <string>

#include "base/check.h"
#include "parallel/error.h"

namespace trireme::parallel {
namespace {

int message_count(std::size_t bytes) {
  TRIREME_CHECK(bytes <= INT_MAX) << "a message of " << bytes << " bytes";
  return static_cast<int>(bytes);
}

class SendOperation : public Communicator::Operation {
 public:
  explicit SendOperation(int rank) : rank_(rank) {}
  ~SendOperation() override {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  MPI_Request* request() { return &request_; }

  bool test() override {
    int done = 0;
    check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
    return done != 0;
  }
  std::size_t received_bytes() const override { return 0; }

 private:
  int rank_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

// The receives from one source with one tag that have no message yet, in order of posting.
class MpiCommunicator::ReceiveChannel {
 public:
  ReceiveChannel(MPI_Comm communicator, int rank, int source, Tag tag)
      : communicator_(communicator), rank_(rank), source_(source), tag_(tag) {}

  void add(ReceiveOperation* operation) { waiting_.push_back(operation); }
  void remove(const ReceiveOperation* operation) { std::erase(waiting_, operation); }
  // Gives messages that have arrived to the receives in order, up to this one.
  void match_up_to(const ReceiveOperation& operation);
  int rank() const { return rank_; }
  int source() const { return source_; }

 private:
  MPI_Comm communicator_;
  int rank_, source_;
  Tag tag_;
  std::deque<ReceiveOperation*> waiting_;
};

class MpiCommunicator::ReceiveOperation : public Communicator::Operation {
 public:
  ReceiveOperation(std::shared_ptr<ReceiveChannel> channel, std::span<std::byte> buffer)
      : channel_(std::move(channel)), buffer_(buffer) {
    channel_->add(this);
  }
  ~ReceiveOperation() override {
    if (!matched_) channel_->remove(this);
    if (request_ != MPI_REQUEST_NULL) abandon();
  }

  bool test() override {
    if (!matched_) channel_->match_up_to(*this);
    if (!matched_) return false;
    int done = 1;
    if (request_ != MPI_REQUEST_NULL) {
      check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test", channel_->rank());
    }
    if (done != 0 && received_bytes_ > buffer_.size()) {
      throw ParallelError("rank " + std::to_string(channel_->rank()) + ": message of " +
                          std::to_string(received_bytes_) + " bytes from rank " + std::to_string(channel_->source()) +
                          " is longer than the buffer of " + std::to_string(buffer_.size()));
    }
    return done != 0;
  }
  std::size_t received_bytes() const override { return received_bytes_; }
  bool matched() const { return matched_; }

  void start(MPI_Message message, int count) {
    matched_ = true;
    received_bytes_ = static_cast<std::size_t>(count);
    if (received_bytes_ > buffer_.size()) overlong_.resize(received_bytes_);
    std::byte* target = overlong_.empty() ? buffer_.data() : overlong_.data();
    check_mpi(MPI_Imrecv(target, count, MPI_BYTE, &message, &request_), "MPI_Imrecv", channel_->rank());
  }

 private:
  // The message is arriving, which a dead peer may never finish.
  void abandon() {
    constexpr std::chrono::milliseconds kLimit{500};
    const auto deadline = std::chrono::steady_clock::now() + kLimit;
    for (int done = 0; done == 0 && std::chrono::steady_clock::now() < deadline;) {
      if (MPI_Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    }
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

  std::shared_ptr<ReceiveChannel> channel_;
  std::span<std::byte> buffer_;
  std::vector<std::byte> overlong_;  // takes a message that does not fit
  bool matched_ = false;
  std::size_t received_bytes_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void MpiCommunicator::ReceiveChannel::match_up_to(const ReceiveOperation& last) {
  while (!last.matched()) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_mpi(MPI_Improbe(source_, static_cast<int>(tag_), communicator_, &found, &message, &status), "MPI_Improbe",
              rank_);
    if (found == 0) return;
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count", rank_);
    ReceiveOperation* operation = waiting_.front();
    waiting_.pop_front();
    operation->start(message, count);
  }
}

void check_mpi(int code, const char* call, int rank) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw ParallelError("rank " + std::to_string(rank) + ": " + call + " failed with code " + std::to_string(code) +
                      ": " + text.data());
}

MpiCommunicator::MpiCommunicator(MPI_Comm parent) {
  check_mpi(MPI_Comm_rank(parent, &rank_), "MPI_Comm_rank", -1);
  check_mpi(MPI_Comm_dup(parent, &communicator_), "MPI_Comm_dup", rank_);
  check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", rank_);
  check_mpi(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size", rank_);
}

MpiCommunicator::~MpiCommunicator() {
  if (std::uncaught_exceptions() == 0) MPI_Comm_free(&communicator_);
}

std::unique_ptr<Communicator::Operation> MpiCommunicator::isend(std::span<const std::byte> bytes, int destination,
                                                                Tag tag) {
  auto operation = std::make_unique<SendOperation>(rank_);
  check_mpi(MPI_Isend(bytes.data(), message_count(bytes.size()), MPI_BYTE, destination, static_cast<int>(tag),
                      communicator_, operation->request()),
            "MPI_Isend", rank_);
  return operation;
}

std::unique_ptr<Communicator::Operation> MpiCommunicator::irecv(std::span<std::byte> bytes, int source, Tag tag) {
  TRIREME_CHECK(source >= 0 && source < size_) << "rank " << source << " of " << size_;
  auto& channel = channels_[{source, tag}];
  if (channel == nullptr) channel = std::make_shared<ReceiveChannel>(communicator_, rank_, source, tag);
  return std::make_unique<ReceiveOperation>(channel, bytes);
}

}  // namespace trireme::parallel
