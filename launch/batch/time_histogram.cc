#include "launch/batch/time_histogram.h"

#include <algorithm>
#include <cmath>

namespace trireme::launch {
namespace {

constexpr double kLeast = 1e-5;
constexpr double kGrowth = 1.02;

}  // namespace

void TimeHistogram::add(double seconds) {
  const double position = seconds <= kLeast ? 0.0 : std::log(seconds / kLeast) / std::log(kGrowth);
  const double last = static_cast<double>(kNumBuckets - 1);
  ++buckets_[static_cast<std::size_t>(std::min(position, last))];
  ++count_;
  sum_ += seconds;
}

double TimeHistogram::percentile(double percent) const {
  const double wanted = std::ceil(static_cast<double>(count_) * percent / 100.0);
  double seen = 0.0;
  for (std::size_t i = 0; i < kNumBuckets; ++i) {
    seen += static_cast<double>(buckets_[i]);
    if (buckets_[i] == 0 || seen < wanted) continue;
    return kLeast * std::pow(kGrowth, static_cast<double>(i) + 0.5);  // the middle of the bucket
  }
  return 0.0;
}

}  // namespace trireme::launch
