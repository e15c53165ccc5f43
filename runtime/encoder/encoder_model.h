// EncoderModel: the forward pass of a BERT over a batch of texts. One thread at a time may use it. A text's result has
// the same bits whatever else is in its batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/ops.h"
#include "runtime/encoder/encoder_description.h"
#include "runtime/encoder/encoder_weights.h"
#include "runtime/kv_cache/kv_cache.h"

namespace trireme::encoder {

class EncoderModel {
 public:
  using TokenIds = std::vector<std::int32_t>;

  // Tokens that are computed at once, at the most; a batch may have more.
  static constexpr std::int64_t kMaxRows = 2048;

  // `ops` outlives this object.
  EncoderModel(EncoderDescription encoder, std::unique_ptr<EncoderWeights> weights, kernels::Ops& ops);

  const EncoderDescription& description() const { return encoder_; }

  // Mean of each text's last hidden states, of Euclidean length 1: [hidden_size] each. Preconditions for this and the
  // next: texts of 1 to max_positions tokens, ids within the vocabulary.
  std::vector<std::vector<float>> embed(std::span<const TokenIds> texts);
  // Logits of the labels for each text. Precondition: description().classifies().
  std::vector<std::vector<float>> classify(std::span<const TokenIds> texts);

 private:
  struct Batch {
    std::vector<std::int32_t> token_ids, positions, token_types;
    std::vector<std::int64_t> slots;
    std::vector<std::int32_t> blocks;
    std::vector<kernels::AttentionSequence> sequences;  // one per row
    std::vector<std::int64_t> first_rows;               // one per text, and the end

    std::int64_t num_rows() const { return static_cast<std::int64_t>(token_ids.size()); }
  };
  // Calls take(first text, batch) with the hidden states of as many texts at a time as fit.
  template <typename Take>
  void run(std::span<const TokenIds> texts, const Take& take);
  void add(const TokenIds& text, Batch& batch) const;
  void finish(Batch& batch) const;
  void forward(const Batch& batch);
  void embed_tokens(const Batch& batch);
  void attention(const EncoderLayer& layer, const Batch& batch);
  void linear(const float* input, const model::LinearWeights& weights, float* output, std::int64_t num_rows,
              kernels::OutputMode mode = kernels::OutputMode::kOverwrite);
  void norm(const model::NormWeights& weights, std::int64_t num_rows);
  std::vector<float> mean_of_rows(std::int64_t begin, std::int64_t end) const;

  EncoderDescription encoder_;
  std::unique_ptr<EncoderWeights> weights_;
  kernels::Ops& ops_;
  std::unique_ptr<kv_cache::KvCache> cache_;            // keys and values of the layer under way, in float32
  base::AlignedBuffer<float> hidden_, qkv_, attended_;  // [kMaxRows or the longest text, …]
  base::AlignedBuffer<float> inner_;                    // [rows, intermediate_size]
};

}  // namespace trireme::encoder
