#include "runtime/kv_cache/kv_plan.h"

#include <algorithm>
#include <cstdio>

namespace trireme::kv_cache {
namespace {

std::string mib(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

std::string terms(const KvPlanInput& input) {
  if (input.fixed_pool_bytes > 0) {
    return "as told (kv_cache.memory_bytes), beside " + mib(input.weight_bytes) + " weights and " +
           mib(input.activation_bytes) + " activations";
  }
  char reserve[16];
  std::snprintf(reserve, sizeof reserve, "%.2f", 1.0 - input.reserve);
  return mib(input.available_bytes) + " available / " + std::to_string(input.ranks_on_host) + " ranks on this host * " +
         reserve + " - " + mib(input.weight_bytes) + " weights - " + mib(input.activation_bytes) + " activations";
}

std::int64_t block_bytes(const KvPlanInput& input, const KvGroupSpec& group) {
  return std::int64_t{group.layers_on_stage} * input.num_kv_heads * input.chunk_bytes;
}

std::int64_t pool_bytes(const KvPlanInput& input) {
  if (input.fixed_pool_bytes > 0) return input.fixed_pool_bytes;
  const double share = static_cast<double>(input.available_bytes) / input.ranks_on_host * (1.0 - input.reserve);
  return static_cast<std::int64_t>(share) - input.weight_bytes - input.activation_bytes;
}

}  // namespace

std::int32_t blocks_per_sequence(const KvPlanInput& input, const KvGroupSpec& group) {
  const std::int64_t full = (std::int64_t{input.max_context} + input.block_tokens - 1) / input.block_tokens;
  if (group.window == 0) return static_cast<std::int32_t>(full);
  // The window before the first row of a chunk, the chunk itself, and a partly used block at either end.
  const std::int64_t tokens = std::int64_t{group.window} + input.max_step_tokens;
  return static_cast<std::int32_t>(std::min(full, tokens / input.block_tokens + 2));
}

std::int64_t KvPlan::bytes_per_token() const {
  std::int64_t bytes = 0;
  for (const KvGroupSpec& group : input.groups) {
    if (group.window == 0) bytes += block_bytes(input, group);
  }
  return bytes / input.block_tokens;
}

base::Result<KvPlan> make_kv_plan(const KvPlanInput& input) {
  KvPlan plan{input, pool_bytes(input), {}};
  std::int64_t sequence_bytes = 0;
  for (const KvGroupSpec& group : input.groups) {
    sequence_bytes += blocks_per_sequence(input, group) * block_bytes(input, group);
  }
  if (plan.pool_bytes <= 0) {
    return base::resource_exhausted("no memory is left for the KV cache: " + terms(input) + " = " +
                                    mib(plan.pool_bytes) +
                                    "; use more ranks or hosts, smaller weights (--weights), or a smaller --reserve");
  }
  for (const KvGroupSpec& group : input.groups) {
    if (group.layers_on_stage == 0) {
      plan.num_blocks.push_back(kUnlimitedBlocks);
      continue;
    }
    const double sequences = static_cast<double>(plan.pool_bytes) / static_cast<double>(sequence_bytes);
    const double blocks = sequences * blocks_per_sequence(input, group);
    plan.num_blocks.push_back(static_cast<std::int32_t>(std::min<double>(blocks, kUnlimitedBlocks - 1)));
  }
  return plan;
}

std::vector<std::int32_t> common_num_blocks(const std::vector<std::vector<std::int32_t>>& stages) {
  std::vector<std::int32_t> common = stages.front();
  for (const auto& stage : stages) {
    for (std::size_t group = 0; group < common.size(); ++group) common[group] = std::min(common[group], stage[group]);
  }
  return common;
}

std::string to_string(const KvPlan& plan) {
  return "KV pool " + mib(plan.pool_bytes) + " = " + terms(plan.input) + "; " + std::to_string(plan.bytes_per_token()) +
         " bytes per token of full attention on this stage";
}

}  // namespace trireme::kv_cache
