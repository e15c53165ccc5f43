#include "launch/batch/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trireme::launch {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{500};
constexpr std::chrono::seconds kLineInterval{10};
constexpr std::chrono::seconds kRateWindow{60};

double seconds_between(Progress::TimePoint from, Progress::TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

Progress::TimePoint::duration interval_of(Progress::Style style) {
  if (style == Progress::Style::kRedrawn) return kRedrawInterval;
  return kLineInterval;
}

}  // namespace

std::string time_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::max(seconds, 0.0)));
  const long long hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  if (hours > 0) return std::to_string(hours) + " h " + std::to_string(minutes) + " min";
  if (minutes > 0) return std::to_string(minutes) + " min " + std::to_string(rest) + " s";
  return std::to_string(rest) + " s";
}

Progress::Progress(std::ostream& stream, Style style, TimePoint start, const ProgressPoint& first)
    : stream_(stream), style_(style), next_(start + interval_of(style)) {
  samples_.push_back({start, first.num_done, first.num_tokens});
}

std::string Progress::text(TimePoint now, const ProgressPoint& point) {
  while (samples_.size() > 1 && now - samples_.front().time > kRateWindow) samples_.pop_front();
  const Sample& since = samples_.front();
  const double elapsed = std::max(seconds_between(since.time, now), 1e-9);
  const double tokens = static_cast<double>(point.num_tokens - since.num_tokens) / elapsed;
  const auto num_new = static_cast<double>(point.num_done - since.num_done);
  const auto num_left = static_cast<double>(point.num_lines - point.num_done);
  char text[160];
  std::snprintf(text, sizeof text, "%.0f tokens/s, KV %.0f %%, %llu running, ", tokens, 100.0 * point.kv_use,
                static_cast<unsigned long long>(point.num_running));
  std::string line = std::to_string(point.num_done) + "/" + std::to_string(point.num_lines) + " lines";
  if (point.num_errors > 0) line += " (" + std::to_string(point.num_errors) + " errors)";
  line += ", ";
  line += text;
  return line + (num_new > 0.0 ? time_text(num_left * elapsed / num_new) : std::string("?")) + " left";
}

void Progress::show(TimePoint now, const ProgressPoint& point) {
  next_ = now + interval_of(style_);
  std::string line = text(now, point);
  samples_.push_back({now, point.num_done, point.num_tokens});
  if (style_ == Style::kLines) {
    stream_ << line << std::endl;
    return;
  }
  const std::size_t width = line.size();
  if (width < drawn_width_) line.append(drawn_width_ - width, ' ');
  drawn_width_ = width;
  stream_ << '\r' << line << std::flush;
}

void Progress::finish() {
  if (drawn_width_ > 0) stream_ << std::endl;
  drawn_width_ = 0;
}

}  // namespace trireme::launch
