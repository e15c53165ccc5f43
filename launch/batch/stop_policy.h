// StopPolicy: when a batch job that is not done has to end: by a signal, or by its time limit. Time is a parameter.
#pragma once

#include <chrono>
#include <optional>

#include "launch/stop_signals.h"

namespace trireme::launch {

class StopPolicy {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  enum class Phase {
    kRunning,
    kDraining,  // nothing new begins; what runs goes on
    kStopped,   // what runs is given up; its rows are made by the next start
  };

  // The time limit counts from `start`. In the last `drain` before it nothing new begins; at most half of the limit.
  StopPolicy(TimePoint start, std::optional<Duration> time_limit, Duration drain);

  // The first kDrain lets what runs go on for `drain`; a second, or kStop, ends it at once.
  void on_signal(StopSignal signal, TimePoint now);
  Phase phase(TimePoint now) const;
  // For the user, where phase() is not kRunning: "a signal", "the time limit".
  const char* reason(TimePoint now) const;

 private:
  std::optional<TimePoint> drain_at_, stop_at_;      // by the time limit
  std::optional<TimePoint> told_drain_, told_stop_;  // by signals: from when on
  Duration drain_;
};

}  // namespace trireme::launch
