#include "runtime/model/stage_model.h"

#include <algorithm>

#include "base/check.h"

namespace trireme::model {

using kernels::OutputMode;

StageModel::StageModel(const ModelDescription& model, const StageSpec& stage, std::unique_ptr<StageWeights> weights,
                       kernels::Ops& ops, kv_cache::KvCache& cache, std::vector<StageAdapter> adapters)
    : model_(model),
      stage_(stage),
      weights_(std::move(weights)),
      ops_(ops),
      cache_(cache),
      experts_(model, ops),
      adapters_(std::move(adapters), ops) {}

std::int64_t StageModel::activation_bytes(const ModelDescription& model, std::int64_t max_rows) {
  constexpr std::int64_t kHiddenBuffers = 6;  // received and sent ones are doubled
  std::int64_t row = kHiddenBuffers * model.hidden_size + model.qkv_rows() + model.gate_up_rows() + model.q_rows();
  if (model.parallel_residual) row += model.hidden_size;
  // What a Linear rounds of its input, with scales: less than two bytes per element of the widest one.
  row += std::max<std::int64_t>(model.intermediate_size, model.q_rows()) / 2;
  return (row * static_cast<std::int64_t>(sizeof(float)) + ExpertFeedForward::bytes_per_row(model)) * max_rows;
}

void StageModel::reserve(std::int64_t num_rows) {
  if (num_rows <= scratch_.capacity_rows) return;
  const auto rows = static_cast<std::size_t>(num_rows);
  const auto buffer = [&](std::int64_t row_size) {
    return base::AlignedBuffer<float>(rows * static_cast<std::size_t>(row_size));
  };
  scratch_.normed = buffer(model_.hidden_size);
  scratch_.qkv = buffer(model_.qkv_rows());
  scratch_.attention = buffer(model_.q_rows());
  scratch_.gate_up = buffer(model_.gate_up_rows());
  if (model_.parallel_residual) scratch_.ffn_input = buffer(model_.hidden_size);
  scratch_.rope_tables.clear();
  for (const RopeSpec& rope : model_.ropes) scratch_.rope_tables.push_back(buffer(rope.rotary_dim));
  scratch_.capacity_rows = num_rows;
}

void StageModel::norm(const float* input, const NormWeights& weights, float* output, std::int64_t num_rows,
                      base::Stream stream) {
  if (model_.norm_kind == NormKind::kLayer) {
    ops_.layer_norm({input, weights.weight, weights.bias, model_.norm_epsilon, output, num_rows, model_.hidden_size},
                    stream);
    return;
  }
  kernels::RmsNormArgs args;
  args.input = input;
  args.output = output;
  args.weight = weights.weight;
  args.input_stride = args.output_stride = args.group_size = model_.hidden_size;
  args.epsilon = model_.norm_epsilon;
  args.num_rows = num_rows;
  ops_.rms_norm(args, stream);
}

StageModel::Rows StageModel::norm_input(const float* hidden, const NormWeights& weights, float* output,
                                        std::int64_t num_rows, base::Stream stream) {
  if (!weights) return {hidden, model_.hidden_size, num_rows};
  norm(hidden, weights, output, num_rows, stream);
  return {output, model_.hidden_size, num_rows};
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

void StageModel::layer_linear(LinearPlace place, const Rows& input, const LinearWeights& weights, float* output,
                              OutputMode mode, base::Stream stream) {
  linear(input, weights, output, mode, stream);
  adapters_.apply(place, adapter_rows_, {input.data, input.stride, output, weights.matrix.shape.out_features}, stream);
}

// hidden += post_norm?(weights * input)
void StageModel::project_to_residual(LinearPlace place, const Rows& input, const LinearWeights& weights,
                                     const NormWeights& post_norm, float* hidden, base::Stream stream) {
  progress_.fetch_add(1, std::memory_order_relaxed);
  if (!post_norm) {
    layer_linear(place, input, weights, hidden, OutputMode::kAdd, stream);
    return;
  }
  float* projected = scratch_.normed.data();
  layer_linear(place, input, weights, projected, OutputMode::kOverwrite, stream);
  norm(projected, post_norm, projected, input.num_rows, stream);
  ops_.add({projected, hidden, input.num_rows * model_.hidden_size}, stream);
}

void StageModel::normalise_heads(const LayerWeights& weights, std::int64_t num_rows, base::Stream stream) {
  if (!weights.q_norm) return;
  const bool per_head = model_.qk_norm_group == QkNormGroup::kHead;
  kernels::RmsNormArgs args;
  args.input_stride = args.output_stride = model_.qkv_rows();
  args.epsilon = model_.norm_epsilon;
  args.num_rows = num_rows;
  const auto normalise = [&](float* values, const NormWeights& norm, std::int64_t num_heads) {
    args.input = args.output = values;
    args.weight = norm.weight;
    args.num_groups = per_head ? num_heads : 1;
    args.group_size = per_head ? model_.head_dim : num_heads * model_.head_dim;
    ops_.rms_norm(args, stream);
  };
  normalise(scratch_.qkv.data(), weights.q_norm, model_.num_heads);
  normalise(scratch_.qkv.data() + model_.q_rows(), weights.k_norm, model_.num_kv_heads);
}

void StageModel::rotate(const LayerSpec& spec, std::int64_t num_rows, base::Stream stream) {
  if (spec.rope == kNoRope) return;
  const auto rope = static_cast<std::size_t>(spec.rope);
  // q and k lie side by side, so one call rotates the heads of both.
  ops_.rope({scratch_.qkv.data(), model_.qkv_rows(), scratch_.rope_tables[rope].data(), num_rows,
             model_.num_heads + model_.num_kv_heads, model_.head_dim, model_.ropes[rope].rotary_dim},
            stream);
}

void StageModel::attention_half(std::int32_t layer, const StepInput& input, float* hidden, base::Stream stream) {
  const LayerWeights& weights = weights_->layers[static_cast<std::size_t>(layer)];
  const LayerSpec& spec = model_.layers[static_cast<std::size_t>(stage_.begin_layer + layer)];
  const auto& group = input.groups[static_cast<std::size_t>(cache_.group_of_layer(layer))];
  const std::int64_t num_rows = input.num_rows(), qkv_stride = model_.qkv_rows();
  float* q = scratch_.qkv.data();
  float* k = q + model_.q_rows();
  float* v = k + model_.kv_rows();

  const Rows normed = norm_input(hidden, weights.attention_norm, scratch_.normed.data(), num_rows, stream);
  layer_linear({layer, LinearSlot::kQkv}, normed, weights.qkv, q, OutputMode::kOverwrite, stream);
  normalise_heads(weights, num_rows, stream);
  rotate(spec, num_rows, stream);
  const kernels::KvLayerView cache = cache_.layer_view(layer);
  ops_.kv_store({k, v, qkv_stride, group.slots.data(), cache, num_rows}, stream);

  kernels::AttentionArgs args;
  args.query = q;
  args.query_stride = qkv_stride;
  args.output = scratch_.attention.data();
  args.output_stride = model_.q_rows();
  args.cache = cache;
  args.sequences = group.sequences;
  args.num_heads = model_.num_heads;
  args.scale = model_.attention_scale;
  args.softcap = model_.attention_softcap;
  args.window = spec.window;
  ops_.attention(args, stream);
  project_to_residual({layer, LinearSlot::kAttentionOutput}, {args.output, args.output_stride, num_rows},
                      weights.attention_output, weights.post_attention_norm, hidden, stream);
}

// hidden += post_ffn_norm?(feed_forward(input))
void StageModel::feed_forward(std::int32_t layer, const Rows& input, float* hidden, base::Stream stream) {
  const LayerWeights& weights = weights_->layers[static_cast<std::size_t>(layer)];
  if (!weights.experts.gate_up.empty()) {
    progress_.fetch_add(1, std::memory_order_relaxed);
    experts_.run(weights.experts, input.data, hidden, input.num_rows, stream);
    return;
  }
  const std::int64_t size = model_.intermediate_size, stride = model_.gate_up_rows(), num_rows = input.num_rows;
  float* gate = scratch_.gate_up.data();
  layer_linear({layer, LinearSlot::kGateUp}, input, weights.gate_up, gate, OutputMode::kOverwrite, stream);
  const float* up = model_.gated ? gate + size : nullptr;
  ops_.activation({gate, up, stride, gate, stride, num_rows, size, model_.activation}, stream);
  project_to_residual({layer, LinearSlot::kDown}, {gate, stride, num_rows}, weights.down, weights.post_ffn_norm, hidden,
                      stream);
}

void StageModel::layer(std::int32_t layer, const StepInput& input, float* hidden, base::Stream stream) {
  const LayerWeights& weights = weights_->layers[static_cast<std::size_t>(layer)];
  const std::int64_t num_rows = input.num_rows();
  if (model_.parallel_residual) {
    const Rows rows = norm_input(hidden, weights.ffn_norm, scratch_.ffn_input.data(), num_rows, stream);
    attention_half(layer, input, hidden, stream);
    feed_forward(layer, rows, hidden, stream);
    return;
  }
  attention_half(layer, input, hidden, stream);
  const Rows rows = norm_input(hidden, weights.ffn_norm, scratch_.normed.data(), num_rows, stream);
  feed_forward(layer, rows, hidden, stream);
}

void StageModel::embed(const StepInput& input, float* hidden, base::Stream stream) {
  TRIREME_CHECK(stage_.first);
  const std::int64_t num_rows = input.num_rows();
  ops_.embed({input.token_ids.data(), weights_->embedding, model_.embedding_scale, hidden, num_rows}, stream);
  if (model_.names.positions.empty()) return;
  reserve(num_rows);
  float* positions = scratch_.normed.data();
  ops_.embed({input.positions.data(), weights_->positions, 1.0f, positions, num_rows}, stream);
  ops_.add({positions, hidden, num_rows * model_.hidden_size}, stream);
}

void StageModel::forward(const StepInput& input, float* hidden, base::Stream stream) {
  forward_layers(0, stage_.end_layer - stage_.begin_layer, input, hidden, stream);
}

void StageModel::forward_layers(std::int32_t begin, std::int32_t end, const StepInput& input, float* hidden,
                                base::Stream stream) {
  const std::int64_t num_rows = input.num_rows();
  reserve(num_rows);
  adapter_rows_ = input.adapters;
  for (std::size_t i = 0; i < model_.ropes.size(); ++i) {
    const RopeSpec& rope = model_.ropes[i];
    ops_.rope_table({input.positions.data(), rope.inverse_frequencies.data(), rope.attention_factor,
                     scratch_.rope_tables[i].data(), num_rows, rope.rotary_dim},
                    stream);
  }
  for (std::int32_t i = begin; i < end; ++i) layer(i, input, hidden, stream);
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
