// ActivityMonitor: makes one sign of life out of the two threads of a rank, the compute thread and the communication
// thread. Used by the heartbeat thread alone.
#pragma once

#include <cstdint>

#include "parallel/heartbeat.h"

namespace trireme::engine {

class ActivityMonitor {
 public:
  // What one thread has done, and whether it has something to do.
  struct Party {
    bool is_due = false;
    std::uint64_t progress = 0;
  };

  // The result's progress stands still while a party that is due stands still.
  parallel::RankActivity observe(const Party& compute, const Party& communication) {
    const bool moves = has_moved(compute, last_compute_) && has_moved(communication, last_communication_);
    last_compute_ = compute.progress;
    last_communication_ = communication.progress;
    if (moves) ++progress_;
    return {compute.is_due || communication.is_due, progress_};
  }

 private:
  static bool has_moved(const Party& party, std::uint64_t last) { return !party.is_due || party.progress != last; }

  std::uint64_t last_compute_ = 0, last_communication_ = 0;
  std::uint64_t progress_ = 0;
};

}  // namespace trireme::engine
