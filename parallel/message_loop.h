// MessageLoop: moves this rank's messages. It runs on the communication thread, the only one that touches the
// Communicator; other threads post sends and receives and wait for them. Idle, it spins briefly, then sleeps between
// polls; a post wakes it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "parallel/communicator.h"

namespace trireme::parallel {

class MessageLoop {
 public:
  // State of a posted operation; shared by the poster and the loop.
  class Ticket {
   public:
    bool done() const;
    void wait();  // any thread but the communication thread; throws ParallelError if the loop has failed or stopped
    std::size_t received_bytes() const;

   private:
    friend class MessageLoop;
    struct State;
    std::shared_ptr<State> state_;
  };

  explicit MessageLoop(Communicator& communicator);
  ~MessageLoop();

  // Any thread. The bytes stay valid until the ticket is done. Operations on one (peer, tag) start in order of posting.
  Ticket post_send(std::span<const std::byte> bytes, int destination, Tag tag);
  Ticket post_receive(std::span<std::byte> bytes, int source, Tag tag);

  // Communication thread. Starts what was posted and tests what is under way; true if anything moved.
  bool poll();
  // Communication thread, after a poll that moved nothing: spins or sleeps, at most `limit`, until woken by a post or
  // by wake(). `compute_busy` tells whether this rank's core has other work, so that waiting should sleep, not spin.
  void idle(bool compute_busy, std::chrono::microseconds limit);
  void wake();  // any thread

  // Makes all waits throw ParallelError(reason), now and later. Any thread.
  void fail(const char* reason);

  Communicator& communicator();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::parallel
