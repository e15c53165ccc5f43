// LapTimer: divides the time of one thread among causes, without gaps: each lap begins where the last one ended.
#pragma once

#include <chrono>
#include <cstdint>

namespace trireme::worker {

class LapTimer {
 public:
  void restart() { last_ = Clock::now(); }

  // Adds the whole microseconds since the last lap to `total`; the rest of a microsecond counts for the next lap.
  void lap(std::uint64_t& total) {
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - last_);
    last_ += passed;
    total += static_cast<std::uint64_t>(passed.count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace trireme::worker
