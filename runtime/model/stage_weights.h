// StageWeights: the weights of one pipeline stage, packed for the kernels, in one contiguous arena.
// Fused Linears hold their parts one below the other: qkv = [q; k; v], gate_up = [gate; up] (or up alone).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/result.h"
#include "kernels/packed_matrix.h"
#include "kernels/thread_pool.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/config/config.h"
#include "runtime/model/model_description.h"
#include "runtime/model/stage_sources.h"
#include "runtime/model/weight_plan.h"

namespace trireme::model {

struct LinearWeights {
  kernels::PackedMatrixView matrix;
  const float* bias = nullptr;  // [out_features] or null
};

struct NormWeights {
  const float* weight = nullptr;  // null where the architecture has no such norm
  const float* bias = nullptr;    // null where it has none

  explicit operator bool() const { return weight != nullptr; }
};

// The matrices of one layer's experts, in their order; empty where the layer has none.
struct ExpertWeights {
  LinearWeights router;
  std::vector<kernels::PackedMatrixView> gate_up, down;
};

// Norms are [hidden_size]; those of q and k [head_dim] or as wide as all heads together.
struct LayerWeights {
  NormWeights attention_norm;
  LinearWeights qkv;
  NormWeights q_norm, k_norm;
  LinearWeights attention_output;
  NormWeights post_attention_norm;
  NormWeights ffn_norm;
  LinearWeights gate_up;
  LinearWeights down;
  ExpertWeights experts;  // instead of gate_up and down
  NormWeights post_ffn_norm;
};

struct StageWeights {
  kernels::PackedMatrixView embedding;  // first stage
  kernels::PackedMatrixView positions;  // first stage of models with learned positions
  std::vector<LayerWeights> layers;
  NormWeights final_norm;  // last stage
  LinearWeights head;      // last stage; shares the embedding's memory where both are here and tied

  base::AlignedBuffer<std::byte> matrices;        // backs the views
  std::vector<std::unique_ptr<float[]>> vectors;  // norms and biases
};

// Checks that every tensor of the stage is there with the right shape, then reads, checks for values that are not
// finite in their format, and packs them with all threads of the pool. Errors name file and tensor.
base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               config::Weights weights, kernels::ThreadPool& pool);
// Likewise, in the formats that `choose` says.
base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               const FormatChooser& choose, kernels::ThreadPool& pool);

}  // namespace trireme::model
