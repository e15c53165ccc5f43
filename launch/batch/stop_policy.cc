#include "launch/batch/stop_policy.h"

#include <algorithm>

namespace trireme::launch {
namespace {

bool is_past(const std::optional<StopPolicy::TimePoint>& time, StopPolicy::TimePoint now) {
  return time && now >= *time;
}

}  // namespace

StopPolicy::StopPolicy(TimePoint start, std::optional<Duration> time_limit, Duration drain) : drain_(drain) {
  if (!time_limit) return;
  stop_at_ = start + *time_limit;
  drain_at_ = *stop_at_ - std::min(drain, *time_limit / 2);
}

void StopPolicy::on_signal(StopSignal signal, TimePoint now) {
  if (signal == StopSignal::kStop || told_drain_) {
    told_stop_ = std::min(told_stop_.value_or(now), now);
    return;
  }
  told_drain_ = now;
  told_stop_ = now + drain_;
}

StopPolicy::Phase StopPolicy::phase(TimePoint now) const {
  if (is_past(told_stop_, now) || is_past(stop_at_, now)) return Phase::kStopped;
  if (is_past(told_drain_, now) || is_past(drain_at_, now)) return Phase::kDraining;
  return Phase::kRunning;
}

const char* StopPolicy::reason(TimePoint now) const {
  const bool by_signal = is_past(told_drain_, now) || is_past(told_stop_, now);
  return by_signal ? "a signal" : "the time limit";
}

}  // namespace trireme::launch
