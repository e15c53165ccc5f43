// StageWeights: the weights of one pipeline stage, packed for the kernels, in one contiguous arena.
// Fused Linears hold their parts one below the other: qkv = [q; k; v], gate_up = [gate; up].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/dtype.h"
#include "base/result.h"
#include "kernels/packed_matrix.h"
#include "kernels/thread_pool.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/model/model_description.h"

namespace trireme::model {

struct LinearWeights {
  kernels::PackedMatrixView matrix;
  const float* bias = nullptr;  // [out_features] or null
};

// Norms are [hidden_size] (or [head_dim] for q and k), null where the architecture has none.
struct LayerWeights {
  const float* attention_norm = nullptr;
  LinearWeights qkv;
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  LinearWeights attention_output;
  const float* post_attention_norm = nullptr;
  const float* ffn_norm = nullptr;
  LinearWeights gate_up;
  LinearWeights down;
  const float* post_ffn_norm = nullptr;
};

// Which part of a model a stage holds: layers [begin_layer, end_layer), the embedding if first, final norm and head if
// last.
struct StageSpec {
  std::int32_t begin_layer = 0;
  std::int32_t end_layer = 0;
  bool first = true;
  bool last = true;
};

struct StageWeights {
  kernels::PackedMatrixView embedding;  // first stage
  std::vector<LayerWeights> layers;
  const float* final_norm = nullptr;  // last stage
  LinearWeights head;                 // last stage; shares the embedding's memory where both are here and tied

  base::AlignedBuffer<std::byte> matrices;        // backs the views
  std::vector<std::unique_ptr<float[]>> vectors;  // norms and biases
};

// Bytes of a stage's packed matrices, without loading anything.
std::int64_t stage_weight_bytes(const ModelDescription& model, const StageSpec& stage, base::DType type);

// Checks that every tensor of the stage is there with the right shape, then reads, checks for values that are not
// finite in `type`, and packs them with all threads of the pool. Errors name file and tensor.
base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               base::DType type, kernels::ThreadPool& pool);

}  // namespace trireme::model
