// LadderReport: what each rung of the ladder has shown, as a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/bench/ladder/rungs.h"
#include "launch/bench/ladder/workload_run.h"

namespace trireme::launch {

// The figures of one run, whatever answered it.
struct RunFigures {
  double seconds = 0.0, tokens_per_s = 0.0, mean_latency_s = 0.0, p99_latency_s = 0.0;
  double padding_share = 0.0, prefix_hit_rate = 0.0, response_hit_rate = 0.0;
  std::int64_t computed_rows = 0, num_preemptions = 0;
  std::size_t num_answered = 0;
};
RunFigures figures_of(const WorkloadRun& run);

// A size of static batches that was tried.
struct StaticTrial {
  std::int32_t batch = 0;
  RunFigures figures;
};

struct RungReport {
  Rung rung;
  RunFigures figures;                      // of static batches: of the best size
  std::int32_t batch = 0;                  // that size; 0: dynamic
  std::vector<StaticTrial> static_trials;  // of all sizes
  std::int32_t num_ranks = 1, replicas = 1, stages = 1, threads_per_rank = 1;
  std::vector<std::int64_t> peak_bytes;      // private memory, of each rank that took part
  std::optional<double> perplexity;          // where the rung changes numerics
  std::optional<std::size_t> num_different;  // outputs that differ from the rung before; where none may

  std::int64_t max_peak_bytes() const;
};

struct LadderReport {
  std::string model, architecture, cpu, kernels, trireme_version, mpi_version;
  WorkloadShape workload;
  std::size_t num_repeats = 0;  // requests that repeat an earlier one
  std::int32_t ranks = 1, hosts = 1;
  std::string perplexity_text;  // where it comes from
  std::vector<RungReport> rungs;
};

// The table, line by line, as rungs end. Ratios are to the first rung; the step is to the one before.
std::string table_header(const LadderReport& report);
std::string table_row(const LadderReport& report, std::size_t rung);

std::string to_json(const LadderReport& report);

}  // namespace trireme::launch
