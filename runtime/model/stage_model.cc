#include "runtime/model/stage_model.h"

#include <algorithm>

#include "base/check.h"

namespace trireme::model {

using kernels::OutputMode;

StageModel::StageModel(const ModelDescription& model, const StageSpec& stage, std::unique_ptr<StageWeights> weights,
                       kernels::Ops& ops, kv_cache::KvCache& cache)
    : model_(model), stage_(stage), weights_(std::move(weights)), ops_(ops), cache_(cache) {}

std::int64_t StageModel::activation_bytes(const ModelDescription& model, std::int64_t max_rows) {
  constexpr std::int64_t kHiddenBuffers = 6;  // received and sent ones are doubled
  std::int64_t row = kHiddenBuffers * model.hidden_size + model.qkv_rows() + 2 * std::int64_t{model.intermediate_size};
  row += std::int64_t{model.num_heads} * model.head_dim;
  return row * max_rows * static_cast<std::int64_t>(sizeof(float));
}

void StageModel::reserve(std::int64_t num_rows) {
  if (num_rows <= scratch_.capacity_rows) return;
  const auto rows = static_cast<std::size_t>(num_rows);
  const auto buffer = [&](std::int64_t row_size) {
    return base::AlignedBuffer<float>(rows * static_cast<std::size_t>(row_size));
  };
  scratch_.normed = buffer(model_.hidden_size);
  scratch_.qkv = buffer(model_.qkv_rows());
  scratch_.attention = buffer(std::int64_t{model_.num_heads} * model_.head_dim);
  scratch_.gate_up = buffer(2 * std::int64_t{model_.intermediate_size});
  scratch_.rope_tables.clear();
  for (const RopeSpec& rope : model_.ropes) scratch_.rope_tables.push_back(buffer(rope.rotary_dim));
  scratch_.capacity_rows = num_rows;
}

void StageModel::norm(const float* input, const float* weight, float* output, std::int64_t num_rows,
                      base::Stream stream) {
  kernels::RmsNormArgs args;
  args.input = input;
  args.output = output;
  args.weight = weight;
  args.input_stride = args.output_stride = args.group_size = model_.hidden_size;
  args.epsilon = model_.norm_epsilon;
  args.num_rows = num_rows;
  ops_.rms_norm(args, stream);
}

void StageModel::linear(const Rows& input, const LinearWeights& weights, float* output, OutputMode mode,
                        base::Stream stream) {
  kernels::LinearArgs args;
  args.input = input.data;
  args.input_stride = input.stride;
  args.weights = weights.matrix;
  args.bias = weights.bias;
  args.output = output;
  args.output_stride = weights.matrix.shape.out_features;
  args.num_rows = input.num_rows;
  args.mode = mode;
  ops_.linear(args, stream);
}

// hidden += post_norm?(weights * input)
void StageModel::project_to_residual(const Rows& input, const LinearWeights& weights, const float* post_norm,
                                     float* hidden, base::Stream stream) {
  progress_.fetch_add(1, std::memory_order_relaxed);
  if (post_norm == nullptr) {
    linear(input, weights, hidden, OutputMode::kAdd, stream);
    return;
  }
  float* projected = scratch_.normed.data();
  linear(input, weights, projected, OutputMode::kOverwrite, stream);
  norm(projected, post_norm, projected, input.num_rows, stream);
  ops_.add({projected, hidden, input.num_rows * model_.hidden_size}, stream);
}

void StageModel::normalise_heads(const LayerWeights& weights, std::int64_t num_rows, base::Stream stream) {
  if (weights.q_norm == nullptr) return;
  kernels::RmsNormArgs args;
  args.input_stride = args.output_stride = model_.qkv_rows();
  args.epsilon = model_.norm_epsilon;
  args.num_rows = num_rows;
  args.group_size = model_.head_dim;
  float* q = scratch_.qkv.data();
  args.input = args.output = q;
  args.weight = weights.q_norm;
  args.num_groups = model_.num_heads;
  ops_.rms_norm(args, stream);
  args.input = args.output = q + std::int64_t{model_.num_heads} * model_.head_dim;
  args.weight = weights.k_norm;
  args.num_groups = model_.num_kv_heads;
  ops_.rms_norm(args, stream);
}

void StageModel::attention_half(std::int32_t layer, const StepInput& input, float* hidden, base::Stream stream) {
  const LayerWeights& weights = weights_->layers[static_cast<std::size_t>(layer)];
  const LayerSpec& spec = model_.layers[static_cast<std::size_t>(stage_.begin_layer + layer)];
  const auto& group = input.groups[static_cast<std::size_t>(cache_.group_of_layer(layer))];
  const std::int64_t num_rows = input.num_rows(), qkv_stride = model_.qkv_rows();
  float* q = scratch_.qkv.data();
  float* k = q + std::int64_t{model_.num_heads} * model_.head_dim;
  float* v = k + std::int64_t{model_.num_kv_heads} * model_.head_dim;

  norm(hidden, weights.attention_norm, scratch_.normed.data(), num_rows, stream);
  linear({scratch_.normed.data(), model_.hidden_size, num_rows}, weights.qkv, q, OutputMode::kOverwrite, stream);
  normalise_heads(weights, num_rows, stream);
  // q and k lie side by side, so one call rotates the heads of both.
  const auto rope = static_cast<std::size_t>(spec.rope);
  ops_.rope({q, qkv_stride, scratch_.rope_tables[rope].data(), num_rows, model_.num_heads + model_.num_kv_heads,
             model_.head_dim, model_.ropes[rope].rotary_dim},
            stream);
  const kernels::KvLayerView cache = cache_.layer_view(layer);
  ops_.kv_store({k, v, qkv_stride, group.slots.data(), cache, num_rows}, stream);

  kernels::AttentionArgs args;
  args.query = q;
  args.query_stride = qkv_stride;
  args.output = scratch_.attention.data();
  args.output_stride = std::int64_t{model_.num_heads} * model_.head_dim;
  args.cache = cache;
  args.sequences = group.sequences;
  args.num_heads = model_.num_heads;
  args.scale = model_.attention_scale;
  args.softcap = model_.attention_softcap;
  args.window = spec.window;
  ops_.attention(args, stream);
  project_to_residual({args.output, args.output_stride, num_rows}, weights.attention_output,
                      weights.post_attention_norm, hidden, stream);
}

void StageModel::ffn_half(std::int32_t layer, std::int64_t num_rows, float* hidden, base::Stream stream) {
  const LayerWeights& weights = weights_->layers[static_cast<std::size_t>(layer)];
  const std::int64_t size = model_.intermediate_size;
  float* gate = scratch_.gate_up.data();
  norm(hidden, weights.ffn_norm, scratch_.normed.data(), num_rows, stream);
  linear({scratch_.normed.data(), model_.hidden_size, num_rows}, weights.gate_up, gate, OutputMode::kOverwrite, stream);
  ops_.activation({gate, gate + size, 2 * size, gate, 2 * size, num_rows, size, model_.activation}, stream);
  project_to_residual({gate, 2 * size, num_rows}, weights.down, weights.post_ffn_norm, hidden, stream);
}

void StageModel::embed(const StepInput& input, float* hidden, base::Stream stream) {
  TRIREME_CHECK(stage_.first);
  ops_.embed({input.token_ids.data(), weights_->embedding, model_.embedding_scale, hidden, input.num_rows()}, stream);
}

void StageModel::forward(const StepInput& input, float* hidden, base::Stream stream) {
  const std::int64_t num_rows = input.num_rows();
  reserve(num_rows);
  for (std::size_t i = 0; i < model_.ropes.size(); ++i) {
    const RopeSpec& rope = model_.ropes[i];
    ops_.rope_table({input.positions.data(), rope.inverse_frequencies.data(), rope.attention_factor,
                     scratch_.rope_tables[i].data(), num_rows, rope.rotary_dim},
                    stream);
  }
  for (std::int32_t layer = 0; layer < stage_.end_layer - stage_.begin_layer; ++layer) {
    attention_half(layer, input, hidden, stream);
    ffn_half(layer, num_rows, hidden, stream);
  }
}

void StageModel::logits(const float* hidden, std::span<const std::int32_t> rows, float* logits, base::Stream stream) {
  TRIREME_CHECK(stage_.last);
  const auto num_rows = static_cast<std::int64_t>(rows.size());
  reserve(num_rows);
  float* gathered = scratch_.normed.data();
  ops_.gather_rows({hidden, rows.data(), gathered, num_rows, model_.hidden_size}, stream);
  norm(gathered, weights_->final_norm, gathered, num_rows, stream);
  linear({gathered, model_.hidden_size, num_rows}, weights_->head, logits, OutputMode::kOverwrite, stream);
  progress_.fetch_add(1, std::memory_order_relaxed);
  if (model_.final_softcap > 0.0f) ops_.softcap({logits, num_rows * model_.vocab_size, model_.final_softcap}, stream);
}

}  // namespace trireme::model
