#include "parallel/heartbeat_watch.h"

#include <cstdio>

namespace trireme::parallel {
namespace {

std::string describe(const char* what, std::chrono::steady_clock::duration time) {
  char text[64];
  std::snprintf(text, sizeof text, "%s for %.1f s", what, std::chrono::duration<double>(time).count());
  return text;
}

}  // namespace

void HeartbeatWatch::beat(TimePoint now, const RankActivity& activity) {
  const bool stands = activity.holds_plan && activity_.holds_plan && activity.progress == activity_.progress;
  if (!stands) standing_since_ = now;
  activity_ = activity;
  heard_ = now;
}

void HeartbeatWatch::forgive(std::chrono::steady_clock::duration stall) {
  heard_ += stall;
  standing_since_ += stall;
}

std::optional<std::string> HeartbeatWatch::missing(TimePoint now) const {
  if (now - heard_ < config_.max_missed_beats * config_.period) return std::nullopt;
  return describe("no heartbeat", now - heard_);
}

std::optional<std::string> HeartbeatWatch::hung() const {
  // Only what the last beat showed counts. It may come a little early, which must not cost another period.
  const auto standing = heard_ - standing_since_;
  if (!activity_.holds_plan || standing < config_.hang_limit - config_.period / 10) return std::nullopt;
  return describe("no progress", standing);
}

}  // namespace trireme::parallel
