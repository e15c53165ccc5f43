// MpiCommunicator: the Communicator over a duplicate of an MPI communicator, so that its messages mix with nobody
// else's. Made by MpiEnvironment::world; must be destroyed before MPI is finalised.
//
// Receives are matched by MPI_Improbe and their sizes compared before a byte is written, because Open MPI 4.1.4 cannot
// be trusted with a message that is longer than its buffer: in shared memory it writes past the end of the buffer
// (large messages), or cuts the message silently (small ones to oneself).
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <utility>

#include "parallel/communicator.h"

namespace trireme::parallel {

// Throws ParallelError with call, code, text and rank unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call, int rank);

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm parent);  // collective over `parent`
  ~MpiCommunicator() override;                // frees the duplicate, unless the stack is being unwound
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // Messages are at most INT_MAX bytes. A send that is destroyed before it is done goes on: its bytes must stay valid.
  std::unique_ptr<Operation> isend(std::span<const std::byte> bytes, int destination, Tag tag) override;
  std::unique_ptr<Operation> irecv(std::span<std::byte> bytes, int source, Tag tag) override;

 private:
  class ReceiveChannel;
  class ReceiveOperation;

  std::map<std::pair<int, Tag>, std::shared_ptr<ReceiveChannel>> channels_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = -1, size_ = 0;
};

}  // namespace trireme::parallel
