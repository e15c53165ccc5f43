// StageModel: the forward pass of one stage's layers over the rows of one step. Owned and called by the stage worker's
// compute thread. Activations are float32; hidden states are [num_rows, hidden_size], row-major.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/stream.h"
#include "kernels/ops.h"
#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/expert_feed_forward.h"
#include "runtime/model/model_description.h"
#include "runtime/model/stage_adapter.h"
#include "runtime/model/stage_weights.h"

namespace trireme::model {

// The rows of one step, as kernels need them.
struct StepInput {
  std::vector<std::int32_t> token_ids;  // [num_rows]
  std::vector<std::int32_t> positions;  // [num_rows]
  struct Group {                        // of layers with the same window
    std::vector<std::int64_t> slots;    // [num_rows]
    std::vector<kernels::AttentionSequence> sequences;
  };
  std::vector<Group> groups;
  std::vector<AdapterRows> adapters;  // ascending, without overlap; other rows run without

  std::int64_t num_rows() const { return static_cast<std::int64_t>(positions.size()); }
};

class StageModel {
 public:
  // All references outlive this object.
  StageModel(const ModelDescription& model, const StageSpec& stage, std::unique_ptr<StageWeights> weights,
             kernels::Ops& ops, kv_cache::KvCache& cache, std::vector<StageAdapter> adapters = {});

  // hidden = embeddings of input.token_ids. First stage only.
  void embed(const StepInput& input, float* hidden, base::Stream stream);
  // Runs this stage's layers in place, writing keys and values to the cache.
  void forward(const StepInput& input, float* hidden, base::Stream stream);
  // The same of this stage's layers [begin, end) alone, counted from its first.
  void forward_layers(std::int32_t begin, std::int32_t end, const StepInput& input, float* hidden, base::Stream stream);
  // logits[i] = head(norm(hidden[rows[i]])), [rows.size(), vocab_size]. Last stage only.
  void logits(const float* hidden, std::span<const std::int32_t> rows, float* logits, base::Stream stream);

  // Counts what is computed, half a layer at a time; any thread may read it, e.g. a watchdog.
  std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

  const ModelDescription& description() const { return model_; }
  const StageSpec& stage() const { return stage_; }

  // Bytes of scratch memory for steps of at most max_rows rows, hidden states in flight included.
  static std::int64_t activation_bytes(const ModelDescription& model, std::int64_t max_rows);

 private:
  struct Scratch {
    base::AlignedBuffer<float> normed, qkv, attention, gate_up;
    base::AlignedBuffer<float>
        ffn_input;  // with a parallel residual: normed before attention adds to the hidden states
    std::vector<base::AlignedBuffer<float>> rope_tables;
    std::int64_t capacity_rows = 0;
  };
  void reserve(std::int64_t num_rows);
  // Activations of one step that an operation reads.
  struct Rows {
    const float* data = nullptr;
    std::int64_t stride = 0;
    std::int64_t num_rows = 0;
  };
  void norm(const float* input, const NormWeights& weights, float* output, std::int64_t num_rows, base::Stream stream);
  // The input of a half of a layer: normed into `output`, or the hidden states themselves where there is no norm.
  Rows norm_input(const float* hidden, const NormWeights& weights, float* output, std::int64_t num_rows,
                  base::Stream stream);
  void linear(const Rows& input, const LinearWeights& weights, float* output, kernels::OutputMode mode,
              base::Stream stream);
  void layer(std::int32_t layer, const StepInput& input, float* hidden, base::Stream stream);
  // A Linear of a layer, with what the step's adapters add to it.
  void layer_linear(LinearPlace place, const Rows& input, const LinearWeights& weights, float* output,
                    kernels::OutputMode mode, base::Stream stream);
  void attention_half(std::int32_t layer, const StepInput& input, float* hidden, base::Stream stream);
  void normalise_heads(const LayerWeights& weights, std::int64_t num_rows, base::Stream stream);
  void rotate(const LayerSpec& spec, std::int64_t num_rows, base::Stream stream);
  void feed_forward(std::int32_t layer, const Rows& input, float* hidden, base::Stream stream);
  void project_to_residual(LinearPlace place, const Rows& input, const LinearWeights& weights,
                           const NormWeights& post_norm, float* hidden, base::Stream stream);

  const ModelDescription& model_;
  const StageSpec stage_;
  std::unique_ptr<StageWeights> weights_;
  kernels::Ops& ops_;
  kv_cache::KvCache& cache_;
  Scratch scratch_;
  ExpertFeedForward experts_;
  LowRankUpdates adapters_;
  std::span<const AdapterRows> adapter_rows_;  // of the step under way
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace trireme::model
