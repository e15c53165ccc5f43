#include "parallel/mpi_communicator.h"

#include <array>
#include <chrono>
#include <climits>
#include <exception>
#include <string>

#include "base/check.h"
#include "parallel/error.h"

namespace trireme::parallel {
namespace {

class MpiOperation : public Communicator::Operation {
 public:
  enum class Kind { kSend, kReceive };

  MpiOperation(Kind kind, int rank) : kind_(kind), rank_(rank) {}
  ~MpiOperation() override {
    if (request_ == MPI_REQUEST_NULL) return;
    if (kind_ == Kind::kReceive) cancel();
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  MPI_Request* request() { return &request_; }

  bool test() override {
    if (request_ == MPI_REQUEST_NULL) return true;
    int done = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&request_, &done, &status), "MPI_Test", rank_);
    if (done == 0) return false;
    if (kind_ == Kind::kReceive) {
      int count = 0;
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count", rank_);
      received_bytes_ = static_cast<std::size_t>(count);
    }
    return true;
  }
  std::size_t received_bytes() const override { return received_bytes_; }

 private:
  // A cancelled receive ends at once unless its message is arriving, which a dead peer may never finish.
  void cancel() {
    constexpr std::chrono::milliseconds kLimit{500};
    const auto deadline = std::chrono::steady_clock::now() + kLimit;
    if (MPI_Cancel(&request_) != MPI_SUCCESS) return;
    for (int done = 0; done == 0 && std::chrono::steady_clock::now() < deadline;) {
      if (MPI_Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    }
  }

  Kind kind_;
  int rank_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::size_t received_bytes_ = 0;
};

int message_count(std::size_t bytes) {
  TRIREME_CHECK(bytes <= INT_MAX) << "a message of " << bytes << " bytes";
  return static_cast<int>(bytes);
}

}  // namespace

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
  auto operation = std::make_unique<MpiOperation>(MpiOperation::Kind::kSend, rank_);
  check_mpi(MPI_Isend(bytes.data(), message_count(bytes.size()), MPI_BYTE, destination, static_cast<int>(tag),
                      communicator_, operation->request()),
            "MPI_Isend", rank_);
  return operation;
}

std::unique_ptr<Communicator::Operation> MpiCommunicator::irecv(std::span<std::byte> bytes, int source, Tag tag) {
  auto operation = std::make_unique<MpiOperation>(MpiOperation::Kind::kReceive, rank_);
  check_mpi(MPI_Irecv(bytes.data(), message_count(bytes.size()), MPI_BYTE, source, static_cast<int>(tag),
                      communicator_, operation->request()),
            "MPI_Irecv", rank_);
  return operation;
}

}  // namespace trireme::parallel
