// ExpertFeedForward: the feed-forward half of a layer with experts. Every token's experts are chosen on the device,
// tokens are grouped by expert, and each expert runs over its tokens at once. Owned by a StageModel.
#pragma once

#include <cstdint>

#include "base/aligned_buffer.h"
#include "base/stream.h"
#include "kernels/ops.h"
#include "runtime/model/model_description.h"
#include "runtime/model/stage_weights.h"

namespace trireme::model {

class ExpertFeedForward {
 public:
  // Both outlive this object.
  ExpertFeedForward(const ModelDescription& model, kernels::Ops& ops) : model_(model), ops_(ops) {}

  // Bytes of scratch memory that a row takes; 0 for models without experts.
  static std::int64_t bytes_per_row(const ModelDescription& model);

  // hidden += sum over the row's experts of weight * expert(input). input and hidden are [num_rows, hidden_size].
  void run(const ExpertWeights& weights, const float* input, float* hidden, std::int64_t num_rows, base::Stream stream);

 private:
  void reserve(std::int64_t num_rows);
  void route(const ExpertWeights& weights, const float* input, std::int64_t num_rows, base::Stream stream);

  const ModelDescription& model_;
  kernels::Ops& ops_;
  base::AlignedBuffer<float> logits_;       // [num_rows, num_experts]
  base::AlignedBuffer<float> row_weights_;  // [num_rows, num_chosen]
  base::AlignedBuffer<float> grouped_;      // [num_rows * num_chosen, hidden_size]: what experts read, then write
  base::AlignedBuffer<float> gate_up_;      // [num_rows * num_chosen, 2 * intermediate_size]
  base::AlignedBuffer<std::int32_t> chosen_, places_, rows_;  // [num_rows * num_chosen]
  base::AlignedBuffer<std::int32_t> offsets_;                 // [num_experts + 1]
  std::int64_t capacity_rows_ = 0;
};

}  // namespace trireme::model
