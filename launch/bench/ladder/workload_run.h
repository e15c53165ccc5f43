// WorkloadRun: what answering a workload once has shown, and how it is answered: in static padded batches, or by the
// serving core with dynamic batching. Both on rank 0, in a closed loop of clients.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "launch/bench/ladder/workload.h"
#include "launch/server/core/request_service.h"
#include "runtime/engine/rank_runtime.h"

namespace trireme::launch {

struct WorkloadRun {
  double seconds = 0.0;                                  // from the first request to the last answer
  std::vector<double> latencies_s;                       // per request, from when its client sends it to its last token
  std::vector<std::vector<scheduler::TokenId>> outputs;  // per request
  std::int64_t computed_rows = 0;                        // tokens that went through the model
  std::int64_t padding_rows = 0;                         // of them, those that belong to no request
  std::int64_t prefix_hit_tokens = 0, prefix_query_tokens = 0;
  std::int64_t response_hits = 0;
  std::int64_t num_preemptions = 0;

  std::int64_t output_tokens() const;
  double tokens_per_s() const { return static_cast<double>(output_tokens()) / seconds; }
  double mean_latency_s() const;
  // By nearest rank: at least `share` of the requests took no longer.
  double latency_quantile_s(double share) const;
  double padding_share() const;
  double prefix_hit_rate() const;
  double response_hit_rate() const;
};

// Whether every request fits, in any company that it may have in a padded batch.
base::Status check_fits(const engine::RankRuntime& runtime, const Workload& workload);

// Told now and then how many requests are answered.
using RunProgress = std::function<void(std::size_t num_answered)>;

struct ClosedLoop {
  const Workload& workload;
  std::size_t num_clients = 1;
  RunProgress progress;
};

// Static padded batches, as they are without a dynamic batcher: requests are taken in order of arrival, `batch` at a
// time (fewer if fewer wait); every prompt is padded to the longest of the batch, every output runs until the longest
// ends, and only then is the batch answered and the next one begun. Padding is computed, not estimated: that of the
// prompts as sequences of their own, so that outputs stay those of the requests. Their attention spans less than the
// masked attention of padded rows would, which favours static batching a little.
base::Result<WorkloadRun> run_static_batches(engine::RankRuntime& runtime, const ClosedLoop& loop, std::int32_t batch);

// As `trireme serve` answers them: dynamic, continuous batching.
base::Result<WorkloadRun> run_dynamic_batches(engine::RankRuntime& runtime, const ClosedLoop& loop,
                                              const scheduler::BatchingPolicy& policy,
                                              const server::ServiceLimits& limits);

}  // namespace trireme::launch
