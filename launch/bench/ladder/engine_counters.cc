#include "launch/bench/ladder/engine_counters.h"

#include "base/check.h"

namespace trireme::launch {

EngineCounters::EngineCounters(const engine::Engine& engine) {
  TRIREME_CHECK(engine.idle());
  for (const engine::ReplicaTotals& replica : engine.totals()) {
    rows_ += static_cast<std::int64_t>(replica.stages.front().num_rows);
  }
  for (const scheduler::SchedulerStats& stats : engine.stats()) {
    prefix_hit_tokens_ += stats.prefix_hit_tokens;
    prefix_query_tokens_ += stats.prefix_query_tokens;
    num_preemptions_ += stats.num_preemptions;
  }
}

void EngineCounters::note_since(const EngineCounters& before, WorkloadRun& run) const {
  run.computed_rows = rows_ - before.rows_;
  run.prefix_hit_tokens = prefix_hit_tokens_ - before.prefix_hit_tokens_;
  run.prefix_query_tokens = prefix_query_tokens_ - before.prefix_query_tokens_;
  run.num_preemptions = num_preemptions_ - before.num_preemptions_;
}

}  // namespace trireme::launch
