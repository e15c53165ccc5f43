// KvPlan: how large the KV pool of a stage is, worked out from memory, with every term kept for printing:
//     pool = available / ranks_on_host * (1 - reserve) - weights - activations        (or what the user says)
// The pool is divided among the layer groups in the ratio that one sequence of maximal length needs of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace trireme::kv_cache {

struct KvGroupSpec {
  std::int32_t window = 0;  // 0: full attention
  std::int32_t layers_on_stage = 0;
};

struct KvPlanInput {
  std::int64_t available_bytes = 0;  // of the host: min(cgroup limit, available memory)
  std::int32_t ranks_on_host = 1;
  double reserve = 0.20;
  std::int64_t weight_bytes = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t fixed_pool_bytes = 0;  // > 0: the user's own choice, instead of the formula
  std::int64_t chunk_bytes = 0;
  std::int32_t num_kv_heads = 0;
  std::int32_t block_tokens = 0;
  std::int32_t max_context = 0;      // tokens of one sequence
  std::int32_t max_step_tokens = 0;  // a window group also holds the chunk that is being computed
  std::vector<KvGroupSpec> groups;
};

struct KvPlan {
  KvPlanInput input;
  std::int64_t pool_bytes = 0;
  std::vector<std::int32_t> num_blocks;  // per group; kUnlimitedBlocks for one without layers on this stage

  std::int64_t bytes_per_token() const;  // of the full-attention layers on this stage, chunk padding included
};

inline constexpr std::int32_t kUnlimitedBlocks = 1 << 30;

// Blocks of a group that one sequence of max_context tokens can hold at once.
std::int32_t blocks_per_sequence(const KvPlanInput& input, const KvGroupSpec& group);

// Error (kResourceExhausted): memory left is less than nothing, naming the terms and what to change.
base::Result<KvPlan> make_kv_plan(const KvPlanInput& input);

// The smallest number of blocks over a replica's stages, so that a block id means the same on all.
std::vector<std::int32_t> common_num_blocks(const std::vector<std::vector<std::int32_t>>& stages);

// One line: "KV pool 8.1 GiB = 23.0 GiB available / 2 ranks * 0.80 - 0.3 GiB weights - …".
std::string to_string(const KvPlan& plan);

}  // namespace trireme::kv_cache
