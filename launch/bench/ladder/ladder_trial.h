// LadderTrial: a pipeline is started, answers the workload once, and is gone again. Collective over all ranks, in the
// same order on each, also where rank 0 runs alone: the others then sleep until it is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/bench/ladder/rungs.h"
#include "launch/bench/ladder/workload_run.h"
#include "launch/command.h"

namespace trireme::launch {

struct Trial {
  const Rung& rung;
  config::Config config;   // the rung's, with the size of its cache
  std::int32_t batch = 0;  // of static batches
  std::string score_text;  // whose perplexity is measured, too; empty: none
  RunProgress progress;
};

// On rank 0; the others have peak_bytes alone.
struct TrialResult {
  WorkloadRun run;
  std::optional<double> perplexity;
  std::int32_t num_ranks = 1, replicas = 1, stages = 1, threads_per_rank = 1;
  std::string kernels;
  std::vector<std::int64_t> peak_bytes;  // of each rank that took part
};

struct TrialPlace {
  const CommandContext& context;
  const Workload& workload;
  const WorkloadShape& shape;
};

// An ExitCode, the same on every rank; what went wrong is logged.
int run_trial(const TrialPlace& place, const Trial& trial, TrialResult& result);

}  // namespace trireme::launch
