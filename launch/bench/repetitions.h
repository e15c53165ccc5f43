// Repetitions: one figure measured several times, and times of short functions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

namespace trireme::launch {

class Repetitions {
 public:
  void add(double value) { values_.insert(std::upper_bound(values_.begin(), values_.end(), value), value); }

  std::size_t count() const { return values_.size(); }
  // Of at least one value. The upper of the two in the middle where their number is even.
  double median() const { return values_[values_.size() / 2]; }
  double min() const { return values_.front(); }
  double max() const { return values_.back(); }

 private:
  std::vector<double> values_;  // ascending
};

// Runs `function` once to warm up, then at least 3 times and for so long; the shortest run in seconds, since other work
// on the machine only ever slows one down.
template <typename Function>
double best_seconds(const Function& function, std::chrono::milliseconds at_least) {
  using Clock = std::chrono::steady_clock;
  function();
  double best = std::numeric_limits<double>::infinity();
  const auto begin = Clock::now();
  for (int run = 0; run < 3 || Clock::now() - begin < at_least; ++run) {
    const auto start = Clock::now();
    function();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace trireme::launch
