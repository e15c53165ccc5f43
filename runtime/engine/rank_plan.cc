#include "runtime/engine/rank_plan.h"

#include <algorithm>

#include "runtime/model/stage_model.h"
#include "runtime/worker/output_head.h"

namespace trireme::engine {
namespace {

using config::Config;
using model::ModelDescription;
using parallel::PipelineLayout;

parallel::LayerCosts layer_costs(const ModelDescription& model) {
  parallel::LayerCosts costs;
  for (std::int32_t layer = 0; layer < model.num_layers(); ++layer) {
    costs.layers.push_back(static_cast<double>(model.layer_linear_weights(layer)));
  }
  costs.embedding = static_cast<double>(model.hidden_size);
  costs.head = static_cast<double>(model.head_weights());
  return costs;
}

base::Result<PipelineLayout> make_layout(const Config& config, const ModelDescription& model, int num_ranks,
                                         int num_replicas) {
  if (config.pipeline.split.empty()) return PipelineLayout::balanced(num_ranks, num_replicas, layer_costs(model));
  return PipelineLayout::with_split(num_ranks, num_replicas, model.num_layers(), config.pipeline.split);
}

model::StageSpec spec_of(const PipelineLayout& layout, int rank) {
  const int stage = layout.stage_of(rank);
  const parallel::LayerRange layers = layout.layers(stage);
  return {layers.begin, layers.end, stage == 0, stage == layout.num_stages() - 1};
}

base::Status check_fingerprints(const std::vector<RankFacts>& ranks) {
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    if (ranks[rank].model_fingerprint == ranks[0].model_fingerprint) continue;
    return base::invalid_argument("ranks 0 and " + std::to_string(rank) +
                                  " see different model files under the same path: copy the same model to every host");
  }
  return base::ok_status();
}

kv_cache::KvPlanInput kv_input(const Config& config, const PlannedModel& planned, const PipelineLayout& layout,
                               const RankFacts& facts, int rank) {
  const ModelDescription& model = planned.description;
  const model::StageSpec stage = spec_of(layout, rank);
  kv_cache::KvPlanInput input;
  input.available_bytes = facts.available_bytes;
  input.ranks_on_host = facts.ranks_on_host;
  input.reserve = config.kv_cache.reserve;
  input.weight_bytes = model::stage_weight_bytes(planned.weights, model, stage);
  input.weight_bytes += facts.adapter_layer_bytes * (stage.end_layer - stage.begin_layer);
  input.activation_bytes = model::StageModel::activation_bytes(model, config.scheduler.max_step_tokens);
  if (stage.last) input.activation_bytes += worker::OutputHead::logits_bytes(model.vocab_size);
  input.fixed_pool_bytes = config.kv_cache.memory_bytes;
  input.chunk_bytes = config.kv_cache.chunk_bytes;
  input.num_kv_heads = model.num_kv_heads;
  input.max_step_tokens = config.scheduler.max_step_tokens;
  for (const std::int32_t window : model.window_groups()) input.groups.push_back({window, 0});
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer; ++layer) {
    ++input.groups[static_cast<std::size_t>(model.group_of_layer(layer))].layers_on_stage;
  }
  return input;
}

std::int32_t context_limit(const Config& config, const ModelDescription& model) {
  return config.model.max_context > 0 ? std::min(config.model.max_context, model.max_positions) : model.max_positions;
}

base::Status plan_kv(const Config& config, const PlannedModel& model, const std::vector<RankFacts>& ranks,
                     RankPlan& plan) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    kv_cache::KvPlanInput input = kv_input(config, model, plan.layout, ranks[rank], static_cast<int>(rank));
    input.block_tokens = plan.chunk.block_tokens;
    input.max_context = context_limit(config, model.description);
    auto kv = kv_cache::make_kv_plan(input);
    if (!kv) return base::Error{kv.error().code, "rank " + std::to_string(rank) + ": " + kv.error().message};
    plan.kv.push_back(std::move(*kv));
  }
  for (int replica = 0; replica < plan.layout.num_replicas(); ++replica) {
    std::vector<std::vector<std::int32_t>> stages;
    for (int stage = 0; stage < plan.layout.num_stages(); ++stage) {
      stages.push_back(plan.kv[static_cast<std::size_t>(plan.layout.rank_of(replica, stage))].num_blocks);
    }
    plan.num_blocks.push_back(kv_cache::common_num_blocks(stages));
  }
  return base::ok_status();
}

// The longest sequence that every group's pool can hold on its own, at most `limit`. A window group never holds more
// than its window and the chunk under way, but must hold that.
base::Result<std::int32_t> fitting_context(const Config& config, const RankPlan& plan, std::int32_t limit) {
  std::int64_t fitting = limit;
  const kv_cache::KvPlanInput& input = plan.kv.front().input;
  for (const auto& blocks : plan.num_blocks) {
    for (std::size_t group = 0; group < blocks.size(); ++group) {
      if (blocks[group] >= kv_cache::blocks_per_sequence(input, input.groups[group])) continue;
      fitting = std::min<std::int64_t>(fitting, std::int64_t{blocks[group]} * plan.chunk.block_tokens);
    }
  }
  constexpr std::int64_t kLeastContext = 2;
  if (fitting < kLeastContext) {
    return base::resource_exhausted(
        "the KV pool (" + std::to_string(plan.kv.front().pool_bytes) +
        " bytes) holds not even one block of every layer: raise --kv-memory or lower --reserve");
  }
  if (fitting < limit && config.model.max_context > 0) {
    return base::resource_exhausted("model.max_context = " + std::to_string(limit) +
                                    " does not fit the KV pool, which holds " + std::to_string(fitting) +
                                    " tokens: raise --kv-memory or lower --max-context");
  }
  return static_cast<std::int32_t>(fitting);
}

std::int32_t batch_limit(const Config& config, const RankPlan& plan) {
  if (config.scheduler.max_batch > 0) return config.scheduler.max_batch;
  std::int64_t batch = config.scheduler.max_step_tokens;  // every running sequence may take a row of a step
  const kv_cache::KvPlanInput& input = plan.kv.front().input;
  for (const auto& blocks : plan.num_blocks) {
    for (std::size_t group = 0; group < blocks.size(); ++group) {
      kv_cache::KvPlanInput average = input;
      average.max_context = std::min(config.scheduler.average_tokens, plan.max_context);
      batch =
          std::min<std::int64_t>(batch, blocks[group] / kv_cache::blocks_per_sequence(average, input.groups[group]));
    }
  }
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, batch));
}

// A pool that the user chose may exceed what the host has; it is reserved, but not there when it is needed.
void warn_of_large_pools(const std::vector<RankFacts>& ranks, RankPlan& plan) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const kv_cache::KvPlan& kv = plan.kv[rank];
    const std::int64_t needed = kv.pool_bytes + kv.input.weight_bytes + kv.input.activation_bytes;
    if (needed <= ranks[rank].available_bytes / ranks[rank].ranks_on_host) continue;
    plan.notes.push_back("warning: rank " + std::to_string(rank) + " may need " + std::to_string(needed >> 20) +
                         " MiB in all, but its share of the host's memory is " +
                         std::to_string(ranks[rank].available_bytes / ranks[rank].ranks_on_host >> 20) +
                         " MiB: lower --kv-memory");
  }
}

base::Result<RankPlan> plan_with_replicas(const Config& config, const PlannedModel& planned,
                                          const std::vector<RankFacts>& ranks, int num_replicas) {
  const ModelDescription& model = planned.description;
  auto layout = make_layout(config, model, static_cast<int>(ranks.size()), num_replicas);
  if (!layout) return layout.error();
  auto chunk = kv_cache::make_chunk_layout(chunk_options(config.kv_cache), model.head_dim);
  if (!chunk) return chunk.error();
  RankPlan plan{std::move(*layout), *chunk, {}, {}, 0, 0, 0, {}};
  if (auto status = plan_kv(config, planned, ranks, plan); !status) return status.error();
  warn_of_large_pools(ranks, plan);
  const std::int32_t limit = context_limit(config, model);
  auto context = fitting_context(config, plan, limit);
  if (!context) return context.error();
  plan.max_context = *context;
  plan.max_batch = batch_limit(config, plan);
  plan.instruction_sets = ranks[0].instruction_sets;
  for (const RankFacts& rank : ranks) plan.instruction_sets &= rank.instruction_sets;
  if (plan.max_context < limit) {
    plan.notes.push_back("context lowered from " + std::to_string(limit) + " to " + std::to_string(plan.max_context) +
                         " tokens, which is what the KV pool holds");
  }
  plan.notes.push_back("max_batch " + std::to_string(plan.max_batch) + " sequences at " +
                       std::to_string(config.scheduler.average_tokens) + " tokens on average");
  return plan;
}

}  // namespace

kv_cache::ChunkOptions chunk_options(const config::KvCacheConfig& config) {
  return {config.chunk_bytes, config.block_tokens, config.key, config.value};
}

model::StageSpec RankPlan::stage_spec(int rank) const {
  return spec_of(layout, rank);
}

base::Result<RankPlan> make_rank_plan(const Config& config, const PlannedModel& model,
                                      const std::vector<RankFacts>& ranks) {
  if (auto status = check_fingerprints(ranks); !status) return status.error();
  if (config.pipeline.replicas > 0) return plan_with_replicas(config, model, ranks, config.pipeline.replicas);
  // Automatic: the most replicas for which memory suffices.
  const int num_ranks = static_cast<int>(ranks.size());
  base::Result<RankPlan> plan = base::resource_exhausted("no number of replicas fits");
  for (int replicas = num_ranks; replicas >= 1; --replicas) {
    if (num_ranks % replicas != 0) continue;
    plan = plan_with_replicas(config, model, ranks, replicas);
    if (plan.ok() && plan->max_context == context_limit(config, model.description)) return plan;
  }
  return plan;
}

scheduler::SchedulerConfig RankPlan::scheduler_config(const Config& config, const ModelDescription& model,
                                                      int replica) const {
  scheduler::SchedulerConfig result;
  result.replica = static_cast<std::uint32_t>(replica);
  result.num_stages = layout.num_stages();
  result.max_plans_in_flight = config.pipeline.plans_in_flight > 0
                                   ? std::clamp(config.pipeline.plans_in_flight, 1, 2 * layout.num_stages())
                                   : layout.num_stages();
  result.max_step_tokens = config.scheduler.max_step_tokens;
  result.max_batch = max_batch;
  result.max_context = max_context;
  result.block_tokens = chunk.block_tokens;
  result.prefix_cache = config.kv_cache.prefix_cache;
  result.batching.priority_worth = std::chrono::milliseconds(config.scheduler.priority_ms);
  result.num_adapters = static_cast<std::uint32_t>(config.model.adapters.size());
  const auto windows = model.window_groups();
  for (std::size_t group = 0; group < windows.size(); ++group) {
    result.kv_groups.push_back({windows[group], num_blocks[static_cast<std::size_t>(replica)][group]});
  }
  // Scores and weighted sums of one token over one earlier token, against the Linears of one token.
  double attention = 0.0, linear = 0.0;
  for (std::int32_t layer = 0; layer < model.num_layers(); ++layer) {
    const bool full = model.layers[static_cast<std::size_t>(layer)].window == 0;
    if (full) attention += 2.0 * model.num_heads * model.head_dim;
    linear += static_cast<double>(model.layer_linear_weights(layer));
  }
  result.context_cost = attention / linear;
  return result;
}

}  // namespace trireme::engine
