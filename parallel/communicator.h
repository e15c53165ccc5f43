// Communicator: a set of ranks that exchange bytes point to point. Implementations: MPI (mpi_communicator.h) and, with
// threads as ranks, in process (in_process_communicator.h). Passed down as a value's reference; there is no global.
//
// Threads: one thread of a rank at a time calls a Communicator or tests its operations (message_loop.h sees to it).
// Nothing here blocks, except the start-up collectives at the end, which are collective over all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trireme::parallel {

// Messages with the same source, destination and tag arrive in order.
enum class Tag : std::int32_t { kStartup = 1, kPlan = 2, kResult = 3, kActivation = 4 };
const char* tag_name(Tag tag);  // for error messages

class Communicator {
 public:
  // A send or receive under way. Destroying one that is not done cancels it where it can be (receives).
  class Operation {
   public:
    virtual ~Operation() = default;
    virtual bool test() = 0;                         // makes progress; true once done, and from then on
    virtual std::size_t received_bytes() const = 0;  // of a receive that is done
  };

  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // `bytes` stays valid and unchanged until the operation is done. Sending to oneself is allowed.
  virtual std::unique_ptr<Operation> isend(std::span<const std::byte> bytes, int destination, Tag tag) = 0;
  // The message must not be longer than `bytes`: it may be shorter.
  virtual std::unique_ptr<Operation> irecv(std::span<std::byte> bytes, int source, Tag tag) = 0;

  // Start-up only, collective, blocking (they poll with sleeps). Lengths may differ between ranks.
  void barrier();
  std::vector<std::byte> broadcast(std::vector<std::byte> bytes, int root);
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes);  // [size]
};

}  // namespace trireme::parallel
