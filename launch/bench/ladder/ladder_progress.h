// LadderProgress: tells how far a trial is, now and then. Rank 0.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "launch/log.h"

namespace trireme::launch {

class LadderProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // `what`: "rung 1 of 6, static batches of 4". `log` outlives this.
  LadderProgress(Log& log, std::string what, std::size_t num_requests)
      : log_(log), what_(std::move(what)), num_requests_(num_requests), next_(Clock::now() + kInterval) {
    log_.info(what_);
  }

  void answered(std::size_t num_answered) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    log_.info(what_ + ": " + std::to_string(num_answered) + " of " + std::to_string(num_requests_) + " requests");
  }

 private:
  static constexpr std::chrono::seconds kInterval{5};
  Log& log_;
  const std::string what_;
  const std::size_t num_requests_;
  Clock::time_point next_;
};

}  // namespace trireme::launch
