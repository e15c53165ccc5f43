// EngineCounters: what the engine has done so far, to tell what it did during a run.
#pragma once

#include "launch/bench/ladder/workload_run.h"
#include "runtime/engine/engine.h"

namespace trireme::launch {

class EngineCounters {
 public:
  // Precondition: engine.idle(), so that every step is counted.
  explicit EngineCounters(const engine::Engine& engine);

  // Enters what has happened since then.
  void note_since(const EngineCounters& before, WorkloadRun& run) const;

 private:
  std::int64_t rows_ = 0;  // of the first stage, over all replicas
  std::int64_t prefix_hit_tokens_ = 0, prefix_query_tokens_ = 0;
  std::int64_t num_preemptions_ = 0;
};

}  // namespace trireme::launch
