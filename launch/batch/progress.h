// The one line that tells how far a batch job is, for all ranks: drawn again and again on a terminal, else written as a
// line every ten seconds. Time is a parameter.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <ostream>
#include <string>

namespace trireme::launch {

// Where the job stands at one moment.
struct ProgressPoint {
  std::uint64_t num_lines = 0;    // of the input
  std::uint64_t num_done = 0;     // have their row, those of earlier starts included
  std::uint64_t num_errors = 0;   // error rows among them
  std::uint64_t num_tokens = 0;   // generated since this start
  std::uint64_t num_running = 0;  // sequences
  double kv_use = 0.0;            // share of the KV blocks in use, over all replicas
};

class Progress {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Style { kRedrawn, kLines };

  // `stream` outlives this.
  Progress(std::ostream& stream, Style style, TimePoint start, const ProgressPoint& first);

  // Whether it is time for show(); cheap.
  bool is_due(TimePoint now) const { return now >= next_; }
  void show(TimePoint now, const ProgressPoint& point);
  // The last word: leaves the cursor on a line of its own.
  void finish();

  // "120/1000 lines (3 errors), 1234 tokens/s, KV 45 %, 32 running, 1 min 10 s left"
  std::string text(TimePoint now, const ProgressPoint& point);

 private:
  struct Sample {
    TimePoint time;
    std::uint64_t num_done, num_tokens;
  };
  std::ostream& stream_;
  const Style style_;
  TimePoint next_;
  std::deque<Sample> samples_;  // of the last minute: rates are of now, not of the whole job
  std::size_t drawn_width_ = 0;
};

// "2 h 5 min", "1 min 10 s", "7 s"
std::string time_text(double seconds);

}  // namespace trireme::launch
