// MessageLoop: moves this rank's messages. It runs on the communication thread; other threads post sends and receives
// and wait for them. One thread at a time touches the Communicator: mostly the communication thread, but whoever posts
// starts the operation itself if nobody else is at it, and whoever waits moves messages itself for a while, since
// handing over to another thread costs more than most messages do. Idle, the loop spins briefly, then sleeps between
// polls; what nobody is there for wakes it. Driven as
//   while (!finished()) { bool moved = loop.poll(); moved |= take_turn(); if (!moved) loop.idle(computing(), limit); }
//
// An operation that fails (a message longer than its buffer, an MPI error) fails its ticket, not the loop.
#pragma once

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
    Ticket() = default;  // of no operation: only to be assigned to
    // Throws ParallelError if this operation failed.
    bool done() const;
    // Any thread but the communication thread. Moves messages until none has moved for some 50 us, then leaves that to
    // the communication thread and sleeps. Throws ParallelError if this operation failed, or the loop has failed or
    // stopped.
    void wait() const;
    std::size_t received_bytes() const;  // of a receive that is done

   private:
    friend class MessageLoop;
    struct State;
    explicit Ticket(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
  };

  // The longest sleep while an operation is under way and this rank computes.
  static constexpr std::chrono::microseconds kBusyPollInterval{300};

  explicit MessageLoop(Communicator& communicator);
  ~MessageLoop();  // stops: later waits throw; withdraws receives that are under way

  // Any thread. Starts the operation, unless another thread is moving messages: then that one, or the communication
  // thread, will. The bytes stay valid until the ticket is done or the loop is destroyed: the loop keeps `keep_alive`,
  // if given, until then. Operations on one (peer, tag) start, and receives complete, in order of posting.
  Ticket post_send(std::span<const std::byte> bytes, int destination, Tag tag,
                   std::shared_ptr<const void> keep_alive = nullptr);
  Ticket post_receive(std::span<std::byte> bytes, int source, Tag tag,
                      std::shared_ptr<const void> keep_alive = nullptr);

  // Communication thread. Starts what was posted and tests what is under way, unless a waiting thread does; true if
  // anything moved.
  bool poll();
  // Communication thread, after a poll that moved nothing: returns after at most `limit`, or as soon as a post or
  // wake() comes. `compute_busy` tells whether this rank's cores have other work: then it sleeps at once, up to
  // kBusyPollInterval if an operation is under way. Otherwise it only yields for the first 100 us without a message,
  // then sleeps a sixteenth of the time that it has been idle (20 us at least, 500 us at most). While a waiting thread
  // moves messages, it sleeps until a receive ends for which no thread waits, or that thread goes to sleep.
  // The first call sets the calling thread's timer slack to 1 us, so that such sleeps are accurate.
  void idle(bool compute_busy, std::chrono::microseconds limit);
  void wake();  // any thread

  // Whether a thread sits in Ticket::wait although its operation has ended, or moves messages there: for a moment,
  // unless it is frozen. Any thread.
  bool has_due_waiter() const;

  // Makes all waits throw ParallelError(reason), now and later; the first reason stays. Any thread.
  void fail(const char* reason);

  Communicator& communicator();  // communication thread; rank() and size() any thread

 private:
  struct Impl;
  struct Completion;
  class Channel;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::parallel
