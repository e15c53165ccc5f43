// TimeHistogram: percentiles of millions of durations in a fixed amount of memory: buckets that grow by 2 % each, from
// 10 us to 10^7 s. A percentile is off by 1 % at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trireme::launch {

class TimeHistogram {
 public:
  void add(double seconds);
  std::uint64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
  // The least time that so many percent of all do not exceed; 0 if there is none.
  double percentile(double percent) const;

 private:
  static constexpr std::size_t kNumBuckets = 1400;
  std::array<std::uint64_t, kNumBuckets> buckets_{};
  std::uint64_t count_ = 0;
  double sum_ = 0.0;
};

}  // namespace trireme::launch
