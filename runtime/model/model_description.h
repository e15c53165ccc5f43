// ModelDescription: what a decoder-only transformer is made of, as data. An architecture (architectures/*.cc) fills it
// in from a checkpoint's metadata; one forward pass (stage_model.cc) runs them all. A layer computes, with x its input:
//     a = x + post_attention_norm?(attention(attention_norm?(x)))
//     y = a + post_ffn_norm?(feed_forward(ffn_norm?(a)))          with parallel_residual: ffn_norm?(x)
// where feed_forward(n) = down(activation(gate(n)) * up(n)), or down(activation(up(n))) where it is not gated, or a
// weighted sum of the few experts that a router chooses for each token, each of them such a feed_forward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ops.h"

namespace trireme::model {

enum class NormKind { kRms, kLayer };  // LayerNorm brings optional biases

// Rotary embedding of some layers. Frequencies hold all scaling (llama3, linear), so that kernels need not know it.
struct RopeSpec {
  std::int32_t rotary_dim = 0;             // of each head's first elements; may be less than head_dim
  std::vector<float> inverse_frequencies;  // [rotary_dim / 2]
  float attention_factor = 1.0f;
};

inline constexpr std::int32_t kNoRope = -1;

struct LayerSpec {
  std::int32_t window = 0;  // sliding window of attention in tokens; 0: full
  std::int32_t rope = 0;    // index into ModelDescription::ropes, or kNoRope
  bool experts = false;     // its feed-forward half is a mixture of experts
};

// A mixture of experts (Shazeer et al. 2017): all such layers of a model are alike.
struct ExpertSpec {
  std::int32_t num_experts = 0;
  std::int32_t num_chosen = 0;  // for each token
  std::int32_t intermediate_size = 0;
  bool renormalise = true;  // the weights of the chosen sum to 1
};

// The order in which a checkpoint stores the rows of q and k for the rotary pairing. kHalfSplit is what the kernels
// use; kInterleaved (GGUF's "llama") is put right when weights are loaded.
enum class RotaryRowOrder { kHalfSplit, kInterleaved };

// Where q, k and v are one tensor: first all of q, then k, then v; or q, k and v of each head in turn (GPT-NeoX).
enum class FusedQkvOrder { kStacked, kByHead };

// Over what q and k are normed where they are: each head on its own, or all heads together (OLMo 2).
enum class QkNormGroup { kHead, kAllHeads };

// Names of a checkpoint's tensors; "{}" stands for the layer, "{e}" for the expert (a name without it is a tensor of
// all experts, [num_experts, …]). Empty: the architecture has no such tensor. Biases are looked for under the weight's
// name with ".bias" in place of ".weight", and are optional.
struct TensorNames {
  std::string embedding, positions, final_norm, head;
  std::string attention_norm, q, k, v, q_norm, k_norm, attention_output, post_attention_norm;
  std::string qkv;  // instead of q, k and v
  std::string ffn_norm, gate, up, down, post_ffn_norm;
  std::string gate_up;  // instead of gate and up: gate's rows, then up's
  std::string router, expert_gate, expert_up, expert_down;
};

struct ModelDescription {
  std::string architecture;     // "llama", "gemma3"
  std::int32_t vocab_size = 0;  // rows of the embedding; may exceed the tokenizer's (padding)
  std::int32_t hidden_size = 0;
  std::int32_t intermediate_size = 0;
  std::int32_t num_heads = 0;
  std::int32_t num_kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t max_positions = 0;  // the model's own limit of context; rows of learned positions, where it has them
  NormKind norm_kind = NormKind::kRms;
  float norm_epsilon = 1e-5f;
  float norm_weight_offset = 0.0f;  // added to the weights of norms when loaded (Gemma in Hugging Face's format: 1)
  float embedding_scale = 1.0f;
  float attention_scale = 0.0f;
  float attention_softcap = 0.0f;  // 0: none
  float final_softcap = 0.0f;
  QkNormGroup qk_norm_group = QkNormGroup::kHead;
  kernels::Activation activation = kernels::Activation::kSilu;
  bool gated = true;
  bool parallel_residual = false;
  bool tied_head = false;  // the head is the embedding
  RotaryRowOrder rotary_row_order = RotaryRowOrder::kHalfSplit;
  FusedQkvOrder fused_qkv_order = FusedQkvOrder::kStacked;
  bool transposed_linears = false;  // the layers' Linears are stored as [in_features, out_features]
  ExpertSpec experts;
  std::vector<RopeSpec> ropes;
  std::vector<LayerSpec> layers;
  TensorNames names;

  std::int32_t num_layers() const { return static_cast<std::int32_t>(layers.size()); }
  std::int64_t q_rows() const { return std::int64_t{num_heads} * head_dim; }
  std::int64_t kv_rows() const { return std::int64_t{num_kv_heads} * head_dim; }
  std::int64_t qkv_rows() const { return q_rows() + 2 * kv_rows(); }
  // Outputs of the first Linear of the feed-forward half.
  std::int64_t gate_up_rows() const { return (gated ? 2 : 1) * std::int64_t{intermediate_size}; }

  // Distinct windows in ascending order, full attention (0) first: the layer groups of the KV cache, the same on all
  // stages.
  std::vector<std::int32_t> window_groups() const;
  std::int32_t group_of_layer(std::int32_t layer) const;

  // Weights of one layer's Linears that a token meets: its multiply-adds. Of experts, only the chosen.
  std::int64_t layer_linear_weights(std::int32_t layer) const;
  std::int64_t head_weights() const { return std::int64_t{vocab_size} * hidden_size; }
};

}  // namespace trireme::model
