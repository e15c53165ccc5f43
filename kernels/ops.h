// Ops: the operations that a model is made of, their contracts written once. Back ends: reference (scalar, the
// definition of correct), cpu (SIMD, chosen at run time) and, later, cuda. One file per operation in each.
//
// For all operations:
// - Pointers are device memory of the back end. Activations are float32, row-major, one row per token; a `_stride`
//   counts elements from one row to the next. Outputs never alias inputs unless said so. Zero rows are allowed.
// - Work is enqueued on `stream` and no operation synchronises; on the CPU it is done on return. One thread at a
//   time may use an Ops object.
// - An output row depends on nothing but its own input row (and its own sequence's cache): the same bits whatever the
//   number of rows, their order, the number of threads, and how a prompt was cut into chunks.
// - A bad shape is our own mistake: TRIREME_CHECK.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/stream.h"
#include "kernels/kv_layer_view.h"
#include "kernels/packed_matrix.h"

namespace trireme::kernels {

// output[r, :] = scale * table[token_ids[r], :]. Ids are in [0, table.shape.out_features).
struct EmbedArgs {
  const std::int32_t* token_ids = nullptr;  // [num_rows]
  PackedMatrixView table;                   // out_features = vocab_size, in_features = hidden_size
  float scale = 1.0f;
  float* output = nullptr;  // [num_rows, hidden_size]
  std::int64_t num_rows = 0;
};

// RMSNorm (Zhang & Sennrich 2019): output = input / sqrt(mean(input²) + epsilon) * weight.
// Each of num_rows rows holds num_groups groups of group_size that are normed on their own with the same weight
// (q/k norm: a group per head). output may be input.
struct RmsNormArgs {
  const float* input = nullptr;
  std::int64_t input_stride = 0;
  const float* weight = nullptr;  // [group_size]
  float epsilon = 1e-5f;
  float* output = nullptr;
  std::int64_t output_stride = 0;
  std::int64_t num_rows = 0;
  std::int64_t num_groups = 1;
  std::int64_t group_size = 0;
};

// LayerNorm (Ba, Kiros & Hinton 2016): output = (input - mean) / sqrt(variance + epsilon) * weight + bias, with the
// mean and the variance (divided by row_size) of each row. output may be input.
struct LayerNormArgs {
  const float* input = nullptr;   // [num_rows, row_size], contiguous
  const float* weight = nullptr;  // [row_size]
  const float* bias = nullptr;    // [row_size] or null
  float epsilon = 1e-5f;
  float* output = nullptr;  // [num_rows, row_size], contiguous
  std::int64_t num_rows = 0;
  std::int64_t row_size = 0;
};

enum class OutputMode { kOverwrite, kAdd };  // kAdd: output += result, as for a residual stream

// output[r, o] = bias[o] + sum over i of input[r, i] * weights[o, i]. The sum s[r, o] comes first; then bias is added;
// then, with kAdd, the result is added to what output held.
//
// Float formats: s is accumulated in float32 with fused multiply-add in ascending i, starting from 0.
// Quantised formats: the input is quantised too (quantised_rows.h), products and their sums are whole numbers and
// exact, so all back ends give the same bits. With x and a the quantised input and its scales, q and d the weights and
// theirs, all float operations in float32:
//     kInt8     s = float(sum_i x[r, i] * q[o, i]) * (a[r] * d[o])
//     in groups s = 0, then for g ascending s = fma(float(sum_{i in g} x[r, i] * (q[o, i] - zero_point)),
//               a[r, g] * d[o, g], s), and with kQ4_1 then s = fma(a[r, g] * float(sum_{i in g} x[r, i]), m[o, g], s)
struct LinearArgs {
  const float* input = nullptr;  // [num_rows, in_features], stride input_stride
  std::int64_t input_stride = 0;
  PackedMatrixView weights;
  const float* bias = nullptr;  // [out_features] or null
  float* output = nullptr;      // [num_rows, out_features], stride output_stride
  std::int64_t output_stride = 0;
  std::int64_t num_rows = 0;
  OutputMode mode = OutputMode::kOverwrite;
};

// output[r, 2i] = cos(a) * attention_factor, output[r, 2i+1] = sin(a) * attention_factor, where
// a = float(positions[r]) * inverse_frequencies[i] in float32. Same bits in every CPU back end.
struct RopeTableArgs {
  const std::int32_t* positions = nullptr;     // [num_rows]
  const float* inverse_frequencies = nullptr;  // [rotary_dim / 2]
  float attention_factor = 1.0f;
  float* output = nullptr;  // [num_rows, rotary_dim]
  std::int64_t num_rows = 0;
  std::int64_t rotary_dim = 0;
};

// Rotary embedding (Su et al. 2021), half-split pairing (i, i + rotary_dim/2) within each head, in place:
// x_i' = x_i cos - x_j sin, x_j' = x_j cos + x_i sin. Elements from rotary_dim on are left alone.
struct RopeArgs {
  float* values = nullptr;  // [num_rows, num_heads, head_dim], stride values_stride
  std::int64_t values_stride = 0;
  const float* table = nullptr;  // of RopeTableArgs
  std::int64_t num_rows = 0;
  std::int64_t num_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;
};

// Rounds keys and values to the cache's formats and writes them to slots (slot = block * block_tokens + offset).
struct KvStoreArgs {
  const float* keys = nullptr;    // [num_rows, num_kv_heads, head_dim], stride input_stride
  const float* values = nullptr;  // likewise
  std::int64_t input_stride = 0;
  const std::int64_t* slots = nullptr;  // [num_rows]
  KvLayerView cache;
  std::int64_t num_rows = 0;
};

// The rows of one sequence in a step. Its keys and values, the current rows' included, are in the cache already.
struct AttentionSequence {
  std::int64_t first_row = 0;
  std::int64_t num_rows = 0;
  std::int64_t first_position = 0;            // position of first_row; row i is at first_position + i
  const std::int32_t* block_table = nullptr;  // block of position p: block_table[p / block_tokens]
};

// Causal attention with grouped queries (Vaswani et al. 2017; Ainslie et al. 2023), online softmax over fixed
// partitions (Dao 2022; Dao et al. 2023). For query position p, keys in (p - window, p] if window > 0, else [0, p]:
//     s_k = scale * q·k, softcapped to softcap * tanh(s / softcap) if softcap > 0; output = sum softmax(s)_k * v_k.
// Keys and values are widened from the cache's formats exactly. The cache is cut at absolute positions that are
// multiples of kAttentionPartition; each part is reduced on its own, parts are merged in ascending order; so the bits
// depend on neither block size nor chunking.
inline constexpr std::int64_t kAttentionPartition = 256;
struct AttentionArgs {
  const float* query = nullptr;  // [num_rows, num_heads, head_dim], stride query_stride
  std::int64_t query_stride = 0;
  float* output = nullptr;  // [num_rows, num_heads, head_dim], stride output_stride
  std::int64_t output_stride = 0;
  KvLayerView cache;
  std::span<const AttentionSequence> sequences;  // their rows do not overlap
  std::int64_t num_heads = 0;                    // multiple of cache.num_kv_heads
  float scale = 1.0f;
  float softcap = 0.0f;
  std::int64_t window = 0;
};

enum class Activation { kSilu, kGeluTanh, kGeluErf, kRelu };

// output[r, i] = activation(gate[r, i]) * up[r, i]; without the product where up is null. output may be gate or up.
struct ActivationArgs {
  const float* gate = nullptr;  // [num_rows, row_size], stride input_stride
  const float* up = nullptr;    // same stride, or null
  std::int64_t input_stride = 0;
  float* output = nullptr;
  std::int64_t output_stride = 0;
  std::int64_t num_rows = 0;
  std::int64_t row_size = 0;
  Activation activation = Activation::kSilu;
};

// The experts of each row (Shazeer et al. 2017): those with the num_chosen largest logits, in descending order, equal
// ones in ascending order of the expert. A weight is the expert's softmax over all logits; with `renormalise` the
// weights of a row are divided by their sum. Same bits in every CPU back end.
struct RouteExpertsArgs {
  const float* logits = nullptr;    // [num_rows, num_experts]
  std::int32_t* experts = nullptr;  // [num_rows, num_chosen]
  float* weights = nullptr;         // [num_rows, num_chosen]
  std::int64_t num_rows = 0;
  std::int64_t num_experts = 0;
  std::int64_t num_chosen = 0;
  bool renormalise = true;
};

// Sorts the choices of all rows by expert, and within one by row: choice i (of row i / num_chosen) goes to places[i],
// rows[places[i]] = i / num_chosen, and expert e has the places [offsets[e], offsets[e + 1]).
struct GroupByExpertArgs {
  const std::int32_t* experts = nullptr;  // [num_rows, num_chosen], in [0, num_experts)
  std::int32_t* places = nullptr;         // [num_rows, num_chosen]
  std::int32_t* rows = nullptr;           // [num_rows * num_chosen]
  std::int32_t* offsets = nullptr;        // [num_experts + 1]
  std::int64_t num_rows = 0;
  std::int64_t num_experts = 0;
  std::int64_t num_chosen = 0;
};

// Linear (overwriting, no bias) with the matrix of the row's group: rows [offsets[g], offsets[g + 1]) belong to
// weights[g]. A row has the bits that Linear gives it.
struct GroupedLinearArgs {
  const float* input = nullptr;  // [num_rows, in_features], stride input_stride
  std::int64_t input_stride = 0;
  std::span<const PackedMatrixView> weights;  // [num_groups], of one shape
  const std::int32_t* offsets = nullptr;      // [num_groups + 1], from 0 to num_rows
  float* output = nullptr;                    // [num_rows, out_features], stride output_stride
  std::int64_t output_stride = 0;
  std::int64_t num_rows = 0;

  // The Linear of one group.
  LinearArgs group(std::size_t index) const {
    LinearArgs group;
    group.input = input + offsets[index] * input_stride;
    group.input_stride = input_stride;
    group.weights = weights[index];
    group.output = output + offsets[index] * output_stride;
    group.output_stride = output_stride;
    group.num_rows = offsets[index + 1] - offsets[index];
    return group;
  }
};

// output[r] += sum over c of weights[r, c] * input[places[r, c]], the sum in ascending order of c, from 0.
struct CombineExpertsArgs {
  const float* input = nullptr;          // [num_rows * num_chosen, row_size]
  const std::int32_t* places = nullptr;  // [num_rows, num_chosen]
  const float* weights = nullptr;        // [num_rows, num_chosen]
  float* output = nullptr;               // [num_rows, row_size]
  std::int64_t num_rows = 0;
  std::int64_t num_chosen = 0;
  std::int64_t row_size = 0;
};

// output[i] += input[i]
struct AddArgs {
  const float* input = nullptr;
  float* output = nullptr;
  std::int64_t size = 0;
};

// output[r] = input[rows[r]], for rows that go to the head.
struct GatherRowsArgs {
  const float* input = nullptr;        // [*, row_size]
  const std::int32_t* rows = nullptr;  // [num_rows]
  float* output = nullptr;             // [num_rows, row_size]
  std::int64_t num_rows = 0;
  std::int64_t row_size = 0;
};

// values[i] = cap * tanh(values[i] / cap), in place (Gemma 2's logits).
struct SoftcapArgs {
  float* values = nullptr;
  std::int64_t size = 0;
  float cap = 0.0f;
};

// output[r] = log(sum over i of exp(input[r, i])), shifted by the row's maximum. -inf entries count as zero.
struct LogSumExpArgs {
  const float* input = nullptr;  // [num_rows, row_size], contiguous
  float* output = nullptr;       // [num_rows]
  std::int64_t num_rows = 0;
  std::int64_t row_size = 0;
};

class Ops {
 public:
  virtual ~Ops() = default;
  virtual std::string_view name() const = 0;  // "reference", "avx2", "avx512"

  virtual void embed(const EmbedArgs& args, base::Stream stream) = 0;
  virtual void rms_norm(const RmsNormArgs& args, base::Stream stream) = 0;
  virtual void layer_norm(const LayerNormArgs& args, base::Stream stream) = 0;
  virtual void linear(const LinearArgs& args, base::Stream stream) = 0;
  virtual void rope_table(const RopeTableArgs& args, base::Stream stream) = 0;
  virtual void rope(const RopeArgs& args, base::Stream stream) = 0;
  virtual void kv_store(const KvStoreArgs& args, base::Stream stream) = 0;
  virtual void attention(const AttentionArgs& args, base::Stream stream) = 0;
  virtual void activation(const ActivationArgs& args, base::Stream stream) = 0;
  virtual void route_experts(const RouteExpertsArgs& args, base::Stream stream) = 0;
  virtual void group_by_expert(const GroupByExpertArgs& args, base::Stream stream) = 0;
  virtual void grouped_linear(const GroupedLinearArgs& args, base::Stream stream) = 0;
  virtual void combine_experts(const CombineExpertsArgs& args, base::Stream stream) = 0;
  virtual void add(const AddArgs& args, base::Stream stream) = 0;
  virtual void gather_rows(const GatherRowsArgs& args, base::Stream stream) = 0;
  virtual void softcap(const SoftcapArgs& args, base::Stream stream) = 0;
  virtual void log_sum_exp(const LogSumExpArgs& args, base::Stream stream) = 0;
};

// The scalar definition of correct: double accumulation, single thread.
std::unique_ptr<Ops> make_reference_ops();

}  // namespace trireme::kernels
