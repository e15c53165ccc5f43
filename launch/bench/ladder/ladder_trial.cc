#include "launch/bench/ladder/ladder_trial.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "launch/bench/generation_rates.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/peak_memory.h"
#include "launch/perplexity.h"
#include "launch/rank_cores.h"
#include "launch/refusal.h"
#include "launch/server/core/service_settings.h"
#include "launch/session.h"
#include "parallel/in_process_communicator.h"
#include "runtime/engine/agreement.h"

namespace trireme::launch {
namespace {

// Of perplexity: enough to tell formats apart, without taking longer than the workload.
constexpr WindowShape kScoredText{.tokens = 512, .max_windows = 12};
constexpr std::uint64_t kWarmUpSeed = 0;

base::Result<WorkloadRun> answer(engine::RankRuntime& runtime, const TrialPlace& place, const Trial& trial) {
  const ClosedLoop loop{place.workload, static_cast<std::size_t>(place.shape.num_clients), trial.progress};
  if (trial.rung.batching == Batching::kStatic) return run_static_batches(runtime, loop, trial.batch);
  const auto policy = server::batching_policy(trial.config.scheduler, runtime.plan().max_batch);
  server::ServiceLimits limits = server::service_limits(trial.config.server, 1);
  limits.waiting.max_requests = std::max(limits.waiting.max_requests, loop.num_clients);  // they are our own
  return run_dynamic_batches(runtime, loop, policy, limits);
}

base::Result<double> perplexity(engine::RankRuntime& runtime, const std::string& text) {
  WindowShape shape = kScoredText;
  shape.tokens = std::min(shape.tokens, runtime.plan().max_context - 1);  // there may be a BOS
  const auto windows = cut_windows(text, shape, runtime.tokenizer());
  if (!windows) return windows.error();
  const auto scores = score_windows(runtime, *windows);
  if (!scores) return scores.error();
  return sum_of(*scores).perplexity();
}

// Rank 0, with the pipeline ready.
base::Status measure(engine::RankRuntime& runtime, const TrialPlace& place, const Trial& trial, PeakMemory& memory,
                     TrialResult& result) {
  const parallel::PipelineLayout& layout = runtime.plan().layout;
  result.replicas = layout.num_replicas();
  result.stages = layout.num_stages();
  result.kernels = runtime.ops_name();
  // First touches of memory, sleeping cores.
  const auto warm = prefill_rate(runtime, kLongFactor * place.shape.short_prompt, kWarmUpSeed);
  if (!warm) return warm.error();
  auto run = answer(runtime, place, trial);
  if (!run) return run.error();
  result.run = std::move(*run);
  result.peak_bytes = {memory.read().private_bytes};
  if (trial.score_text.empty()) return base::ok_status();
  const auto scored = perplexity(runtime, trial.score_text);
  if (!scored) return scored.error();
  result.perplexity = *scored;
  return base::ok_status();
}

int run_with(const CommandContext& context, const TrialPlace& place, const Trial& trial, PeakMemory& memory,
             TrialResult& result) {
  result.num_ranks = context.world.size();
  result.threads_per_rank = static_cast<std::int32_t>(cores_of_this_rank(context).cores.size());
  return run_session(context, [&](engine::RankRuntime& runtime) {
    const base::Status status = measure(runtime, place, trial, memory, result);
    return status ? static_cast<int>(kSuccess) : refuse(context, status.error());
  });
}

// As if this rank had been started alone, on the whole host.
int run_alone(const TrialPlace& place, const CommandContext& shared, const Trial& trial, PeakMemory& memory,
              TrialResult& result) {
  const auto communicators = parallel::make_in_process_communicators(1);
  const CommandContext alone{.config = shared.config,
                             .world = *communicators.front(),
                             .log = shared.log,
                             .local_rank = 0,
                             .local_size = 1,
                             .host = shared.host,
                             .bound_by_launcher = shared.bound_by_launcher || shared.local_size > 1};
  return run_with(alone, place, trial, memory, result);
}

struct Outcome {
  std::int32_t exit_code = kSuccess;
  std::int64_t peak_bytes = 0;
};

}  // namespace

int run_trial(const TrialPlace& place, const Trial& trial, TrialResult& result) {
  const CommandContext& context = place.context;
  config::ResolvedConfig config = context.config;
  config.config = trial.config;
  Log quiet;  // the ladder tells what happens; many starts of a pipeline do not
  quiet.only_warnings();
  const CommandContext own{
      config, context.world, quiet, context.local_rank, context.local_size, context.host, context.bound_by_launcher};
  ::malloc_trim(0);  // what the pipeline before has left
  Outcome outcome;
  {
    PeakMemory memory;
    if (trial.rung.ranks == RanksOfRung::kAll) {
      outcome.exit_code = run_with(own, place, trial, memory, result);
    } else if (context.is_root()) {
      outcome.exit_code = run_alone(place, own, trial, memory, result);
    }
    outcome.peak_bytes = result.peak_bytes.empty() ? memory.read().private_bytes : result.peak_bytes.front();
  }
  const std::vector<Outcome> outcomes = engine::gather(context.world, outcome);
  int exit_code = kSuccess;
  result.peak_bytes.clear();
  for (const Outcome& of_rank : outcomes) {
    exit_code = std::max<int>(exit_code, of_rank.exit_code);
    if (trial.rung.ranks == RanksOfRung::kAll || result.peak_bytes.empty()) {
      result.peak_bytes.push_back(of_rank.peak_bytes);
    }
  }
  return exit_code;
}

}  // namespace trireme::launch
