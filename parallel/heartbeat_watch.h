// HeartbeatWatch: decides from the beats of one rank whether it is dead or hung. Pure logic: times are parameters.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "parallel/heartbeat.h"

namespace trireme::parallel {

class HeartbeatWatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  HeartbeatWatch(const HeartbeatConfig& config, TimePoint now) : config_(config), heard_(now), standing_since_(now) {}

  // A beat has arrived.
  void beat(TimePoint now, const RankActivity& activity);
  // The watcher itself did not run for this long, so that it could not hear: the time does not count.
  void forgive(std::chrono::steady_clock::duration stall);

  // "no heartbeat for 5.0 s" or "no progress for 8.0 s".
  std::optional<std::string> missing(TimePoint now) const;
  std::optional<std::string> hung() const;

 private:
  HeartbeatConfig config_;
  TimePoint heard_;
  RankActivity activity_;
  TimePoint standing_since_;  // the first beat that showed the present progress under a plan
};

}  // namespace trireme::parallel
