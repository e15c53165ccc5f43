// Heartbeat: notices dead and hung ranks, which Open MPI 4.1.4 does not report. Every rank has a TCP connection to rank
// 0 and both sides beat once a second from a thread of their own; times are monotonic. Rank 0 alone decides, except
// about itself: the others watch it.
//
// Dead: the connection is reset or closed, or `max_missed_beats` beats are missing. Hung: the rank holds a plan while
// its progress counter stands still for `hang_limit`. Rank 0 tells the others (rank, cause), so that each can end
// itself; the report callback then runs on the heartbeat thread, once. What to do about it is launch's business.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "parallel/communicator.h"

namespace trireme::parallel {

struct HeartbeatConfig {
  std::chrono::milliseconds period{1000};
  int max_missed_beats = 5;
  std::chrono::milliseconds hang_limit{8000};
  std::chrono::milliseconds connect_limit{20000};  // of the constructor, once all ranks have entered it
};

// What a rank says of itself with each beat; called on the heartbeat thread, must not block.
struct RankActivity {
  // A plan that it could compute now. A rank that waits for another stage's hidden states does not hold one in this
  // sense: else every stage behind one that computes for long would look hung.
  bool holds_plan = false;
  std::uint64_t progress = 0;
};

struct RankFailure {
  int rank = -1;
  std::string host;
  std::string cause;  // "connection closed", "no heartbeat for 5.0 s", "no progress for 8.0 s", or a rank's own words
};

class Heartbeat {
 public:
  // Collective over all ranks (start-up phase: exchanges addresses through the communicator).
  // `on_failure` is called at most once; the heart then stands still. With one rank, only the hang check is active.
  // Throws ParallelError if a rank cannot be reached.
  Heartbeat(Communicator& communicator, HeartbeatConfig config, std::function<RankActivity()> activity,
            std::function<void(const RankFailure&)> on_failure);
  // Orderly end: says goodbye, so that the peers do not take it for a death. While the stack is being unwound it says
  // nothing, and they do.
  ~Heartbeat();

  // Tells rank 0 (and through it everyone, this rank too) that this rank fails for a cause that it knows. Any thread;
  // returns when rank 0 knows or, lest it be lost, after 1 s.
  void report_own_failure(const std::string& cause);
  // From now on peers may leave: closing connections is no failure; missing beats are. Any thread; called before an
  // orderly shutdown.
  void expect_shutdown();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::parallel
