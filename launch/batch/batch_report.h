// What a batch job tells at its end: throughput, the times that requests took, and where the ranks' time and memory
// went; as text for the user and as JSON for scripts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/batch/time_histogram.h"
#include "launch/peak_memory.h"

namespace trireme::launch {

// Of one start of a job.
struct BatchTotals {
  std::uint64_t num_lines = 0;        // of the input
  std::uint64_t num_done_before = 0;  // by earlier starts
  std::uint64_t num_completed = 0;    // requests of this start, with a result
  std::uint64_t num_errors = 0;       // error rows of this start
  std::uint64_t num_errors_before = 0;
  std::uint64_t prompt_tokens = 0, output_tokens = 0;  // of completed requests
  double seconds = 0.0;                                // from the first request on
  TimeHistogram first_token;                           // from submission to the first token
  TimeHistogram latency;                               // from submission to the end
  TimeHistogram per_token;                             // mean time between two tokens of one request

  std::uint64_t num_unfinished() const { return num_lines - num_done_before - num_completed - num_errors; }
};

// Where one rank's time went while the job ran, and its peak memory.
struct RankUse {
  int rank = 0, replica = 0, stage = 0;
  std::string host;
  double busy_s = 0.0, wait_s = 0.0, receive_s = 0.0, send_s = 0.0;
  MemoryUse memory;

  double total_s() const { return busy_s + wait_s + receive_s + send_s; }
  // The share of the time in which nothing was computed: the pipeline's bubbles, and communication that they hide.
  double bubble() const { return total_s() > 0.0 ? 1.0 - busy_s / total_s() : 0.0; }
};

// Several lines, the last without a newline.
std::string report_text(const BatchTotals& totals, const std::vector<RankUse>& ranks);
// One object; the names of throughputs and times are those of vLLM's benchmarks.
std::string report_json(const BatchTotals& totals, const std::vector<RankUse>& ranks);

}  // namespace trireme::launch
