// AdapterDescription: what a low-rank adapter (LoRA, Hu et al. 2021; PEFT's files) adds to which Linears of a model:
// y += scale * B(A x), with scale = alpha / rank, or alpha / sqrt(rank) where it is rank-stabilised (Kalajdzievski
// 2023).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/packed_matrix.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/model/model_description.h"

namespace trireme::model {

// The Linears of a layer, as the forward pass has them.
enum class LinearSlot : std::uint8_t { kQkv, kAttentionOutput, kGateUp, kDown };
inline constexpr std::size_t kNumLinearSlots = 4;

// One pair of matrices: A is [rank, in_features], B [num_outputs, rank].
struct AdapterTarget {
  std::int32_t layer = 0;
  LinearSlot slot = LinearSlot::kQkv;
  std::int64_t first_output = 0;  // of the slot's Linear
  std::int64_t num_outputs = 0;
  std::int64_t in_features = 0;
  std::string a, b;  // names of the tensors

  // The two matrices as they are kept: in float32.
  kernels::PackedMatrixShape a_shape(std::int64_t rank) const {
    return {kernels::WeightFormat::kF32, rank, in_features};
  }
  kernels::PackedMatrixShape b_shape(std::int64_t rank) const {
    return {kernels::WeightFormat::kF32, num_outputs, rank};
  }
  std::size_t aligned_bytes(std::int64_t rank) const {
    return a_shape(rank).aligned_bytes() + b_shape(rank).aligned_bytes();
  }
};

struct AdapterDescription {
  std::int32_t rank = 0;
  float scale = 0.0f;
  std::vector<AdapterTarget> targets;  // in order of the layers

  // Bytes of memory that layers [begin, end) take.
  std::int64_t bytes(std::int32_t begin, std::int32_t end) const;
};

// Errors: another method than LoRA, features that are not supported, a module that the model has not, a tensor without
// its partner or of another shape.
base::Result<AdapterDescription> describe_adapter(const checkpoint::Checkpoint& adapter, const ModelDescription& model);

}  // namespace trireme::model
