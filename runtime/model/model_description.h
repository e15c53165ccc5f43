// ModelDescription: what a decoder-only transformer is made of, as data. An architecture (architectures/*.cc) fills it
// in from a checkpoint's metadata; one forward pass (stage_model.cc) runs them all. A layer computes, with x its input:
//     a = x + post_attention_norm?(attention(attention_norm(x)))
//     y = a + post_ffn_norm?(down(activation(gate(n)) * up(n))),  n = ffn_norm(a)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace trireme::model {

// Rotary embedding of some layers. Frequencies hold all scaling (llama3, linear), so that kernels need not know it.
struct RopeSpec {
  std::int32_t rotary_dim = 0;
  std::vector<float> inverse_frequencies;  // [rotary_dim / 2]
  float attention_factor = 1.0f;
};

struct LayerSpec {
  std::int32_t window = 0;  // sliding window of attention in tokens; 0: full
  std::int32_t rope = 0;    // index into ModelDescription::ropes
};

// The order in which a checkpoint stores the rows of q and k for the rotary pairing. kHalfSplit is what the kernels
// use; kInterleaved (GGUF's "llama") is put right when weights are loaded.
enum class RotaryRowOrder { kHalfSplit, kInterleaved };

// Names of a checkpoint's tensors; "{}" stands for the layer. Empty: the architecture has no such tensor.
// Biases are looked for under the weight's name with ".bias" in place of ".weight", and are optional.
struct TensorNames {
  std::string embedding, final_norm, head;
  std::string attention_norm, q, k, v, q_norm, k_norm, attention_output, post_attention_norm;
  std::string ffn_norm, gate, up, down, post_ffn_norm;
};

struct ModelDescription {
  std::string architecture;     // "llama", "gemma3"
  std::int32_t vocab_size = 0;  // rows of the embedding; may exceed the tokenizer's (padding)
  std::int32_t hidden_size = 0;
  std::int32_t intermediate_size = 0;
  std::int32_t num_heads = 0;
  std::int32_t num_kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t max_positions = 0;  // the model's own limit of context
  float norm_epsilon = 1e-5f;
  float norm_weight_offset = 0.0f;  // added to the weights of norms when loaded (Gemma in Hugging Face's format: 1)
  float embedding_scale = 1.0f;
  float attention_scale = 0.0f;
  float attention_softcap = 0.0f;  // 0: none
  float final_softcap = 0.0f;
  kernels::Activation activation = kernels::Activation::kSilu;
  bool tied_head = false;  // the head is the embedding
  RotaryRowOrder rotary_row_order = RotaryRowOrder::kHalfSplit;
  std::vector<RopeSpec> ropes;
  std::vector<LayerSpec> layers;
  TensorNames names;

  std::int32_t num_layers() const { return static_cast<std::int32_t>(layers.size()); }
  std::int64_t qkv_rows() const { return std::int64_t{num_heads + 2 * num_kv_heads} * head_dim; }

  // Distinct windows in ascending order, full attention (0) first: the layer groups of the KV cache, the same on all
  // stages.
  std::vector<std::int32_t> window_groups() const;
  std::int32_t group_of_layer(std::int32_t layer) const;

  // Weights of one layer's Linears; multiply-adds per token.
  std::int64_t layer_linear_weights() const;
  std::int64_t head_weights() const { return std::int64_t{vocab_size} * hidden_size; }
};

}  // namespace trireme::model
