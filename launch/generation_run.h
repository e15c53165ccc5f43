// Runs one request to its end on rank 0.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "launch/generation_output.h"
#include "runtime/engine/generation.h"
#include "runtime/engine/rank_runtime.h"

namespace trireme::launch {

struct GenerationRun {
  std::vector<engine::Generation> choices;
  GenerationTiming timing;
};

// `on_event` sees every event as it comes. Error: a request that can never fit, or logits that were not finite.
base::Result<GenerationRun> run_generation(engine::RankRuntime& runtime, const scheduler::Request& request,
                                           const engine::OutputCallback& on_event);

}  // namespace trireme::launch
