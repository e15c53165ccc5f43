// RankPlan: how the ranks share the model and the memory, worked out from the configuration, the model and every rank's
// facts. Pure and deterministic: each rank computes the same plan, and `inspect` can without starting any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/kv_layer_view.h"
#include "parallel/pipeline_layout.h"
#include "runtime/config/config.h"
#include "runtime/kv_cache/chunk_layout.h"
#include "runtime/kv_cache/kv_plan.h"
#include "runtime/model/model_description.h"
#include "runtime/model/stage_sources.h"
#include "runtime/model/weight_plan.h"
#include "scheduler/scheduler.h"

namespace trireme::engine {

// What one rank brings; gathered from all of them.
struct RankFacts {
  std::int64_t available_bytes = 0;  // memory of its host
  std::int32_t ranks_on_host = 1;
  std::uint32_t instruction_sets = 0;    // bit i: this processor has kernels::InstructionSet i
  std::uint64_t model_fingerprint = 0;   // and that of its adapters
  std::int64_t adapter_layer_bytes = 0;  // of all adapters, for each layer, at the most
};

// The model, and how its weights are kept.
struct PlannedModel {
  const model::ModelDescription& description;
  const model::WeightPlan& weights;
};

struct RankPlan {
  parallel::PipelineLayout layout;
  kernels::KvChunkLayout chunk;
  std::vector<kv_cache::KvPlan> kv;                   // per rank
  std::vector<std::vector<std::int32_t>> num_blocks;  // per replica, per layer group
  std::int32_t max_context = 0;
  std::int32_t max_batch = 0;
  std::uint32_t instruction_sets = 0;  // common to all ranks
  std::vector<std::string> notes;      // warnings and terms for the user

  model::StageSpec stage_spec(int rank) const;
  scheduler::SchedulerConfig scheduler_config(const config::Config& config, const model::ModelDescription& model,
                                              int replica) const;
};

// Errors: ranks that see different models (named), layers that do not fit the ranks, memory that does not suffice.
base::Result<RankPlan> make_rank_plan(const config::Config& config, const PlannedModel& model,
                                      const std::vector<RankFacts>& ranks);

kv_cache::ChunkOptions chunk_options(const config::KvCacheConfig& config);

}  // namespace trireme::engine
