#include "runtime/encoder/encoder_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "runtime/kv_cache/chunk_layout.h"

namespace trireme::encoder {
namespace {

constexpr base::Stream kStream{};

std::int64_t capacity_of(const EncoderDescription& encoder) {
  return std::max<std::int64_t>(EncoderModel::kMaxRows, encoder.max_positions);
}

// One layer's worth, used by all in turn. Every text begins a block of its own.
std::unique_ptr<kv_cache::KvCache> make_cache(const EncoderDescription& encoder) {
  constexpr std::int64_t kFloatsPerToken = 2;
  constexpr std::int32_t kBlockTokens = 16;
  kv_cache::ChunkOptions options;
  options.key_type = options.value_type = base::DType::kF32;
  options.block_tokens = kBlockTokens;
  options.chunk_bytes = kBlockTokens * kFloatsPerToken * encoder.head_dim() * static_cast<std::int64_t>(sizeof(float));
  kv_cache::KvCacheShape shape;
  shape.layout = kv_cache::make_chunk_layout(options, encoder.head_dim()).value();
  shape.chunk_bytes = options.chunk_bytes;
  shape.num_kv_heads = encoder.num_heads;
  shape.layer_group = {0};
  shape.num_blocks = {static_cast<std::int32_t>(capacity_of(encoder))};
  return std::make_unique<kv_cache::KvCache>(std::move(shape));
}

}  // namespace

EncoderModel::EncoderModel(EncoderDescription encoder, std::unique_ptr<EncoderWeights> weights, kernels::Ops& ops)
    : encoder_(std::move(encoder)), weights_(std::move(weights)), ops_(ops), cache_(make_cache(encoder_)) {
  const auto rows = static_cast<std::size_t>(capacity_of(encoder_));
  const auto hidden_size = static_cast<std::size_t>(encoder_.hidden_size);
  hidden_ = base::AlignedBuffer<float>(rows * hidden_size);
  qkv_ = base::AlignedBuffer<float>(rows * 3 * hidden_size);
  attended_ = base::AlignedBuffer<float>(rows * hidden_size);
  inner_ = base::AlignedBuffer<float>(rows * static_cast<std::size_t>(encoder_.intermediate_size));
}

void EncoderModel::add(const TokenIds& text, Batch& batch) const {
  const std::int64_t block_tokens = cache_->block_tokens();
  const auto first_block = static_cast<std::int64_t>(batch.blocks.size());
  batch.first_rows.push_back(batch.num_rows());
  for (std::size_t i = 0; i < text.size(); ++i) {
    batch.token_ids.push_back(text[i]);
    batch.positions.push_back(static_cast<std::int32_t>(i));
    batch.token_types.push_back(0);
    batch.slots.push_back(first_block * block_tokens + static_cast<std::int64_t>(i));
  }
  const std::int64_t num_blocks = (static_cast<std::int64_t>(text.size()) + block_tokens - 1) / block_tokens;
  for (std::int64_t b = 0; b < num_blocks; ++b) batch.blocks.push_back(static_cast<std::int32_t>(first_block + b));
}

// Attention is causal, but a query carries no position of its own: each row asks as if it were its text's last, and so
// sees the whole text.
void EncoderModel::finish(Batch& batch) const {
  batch.first_rows.push_back(batch.num_rows());
  for (std::size_t text = 0; text + 1 < batch.first_rows.size(); ++text) {
    const std::int64_t begin = batch.first_rows[text], end = batch.first_rows[text + 1];
    const std::int64_t block = batch.slots[static_cast<std::size_t>(begin)] / cache_->block_tokens();
    for (std::int64_t row = begin; row < end; ++row) {
      batch.sequences.push_back({row, 1, end - begin - 1, batch.blocks.data() + block});
    }
  }
}

template <typename Take>
void EncoderModel::run(std::span<const TokenIds> texts, const Take& take) {
  for (std::size_t begin = 0; begin < texts.size();) {
    Batch batch;
    std::size_t end = begin;
    while (end < texts.size()) {
      const auto size = static_cast<std::int64_t>(texts[end].size());
      TRIREME_CHECK(size > 0 && size <= encoder_.max_positions) << size << " tokens";
      if (end > begin && batch.num_rows() + size > kMaxRows) break;
      add(texts[end++], batch);
    }
    finish(batch);
    forward(batch);
    take(begin, batch);
    begin = end;
  }
}

void EncoderModel::linear(const float* input, const model::LinearWeights& weights, float* output, std::int64_t num_rows,
                          kernels::OutputMode mode) {
  kernels::LinearArgs args;
  args.input = input;
  args.input_stride = weights.matrix.shape.in_features;
  args.weights = weights.matrix;
  args.bias = weights.bias;
  args.output = output;
  args.output_stride = weights.matrix.shape.out_features;
  args.num_rows = num_rows;
  args.mode = mode;
  ops_.linear(args, kStream);
}

void EncoderModel::norm(const model::NormWeights& weights, std::int64_t num_rows) {
  ops_.layer_norm({hidden_.data(), weights.weight, weights.bias, encoder_.norm_epsilon, hidden_.data(), num_rows,
                   encoder_.hidden_size},
                  kStream);
}

void EncoderModel::embed_tokens(const Batch& batch) {
  const std::int64_t num_rows = batch.num_rows(), size = num_rows * encoder_.hidden_size;
  float* part = attended_.data();
  ops_.embed({batch.token_ids.data(), weights_->words, 1.0f, hidden_.data(), num_rows}, kStream);
  ops_.embed({batch.positions.data(), weights_->positions, 1.0f, part, num_rows}, kStream);
  ops_.add({part, hidden_.data(), size}, kStream);
  ops_.embed({batch.token_types.data(), weights_->token_types, 1.0f, part, num_rows}, kStream);
  ops_.add({part, hidden_.data(), size}, kStream);
  norm(weights_->embedding_norm, num_rows);
}

void EncoderModel::attention(const EncoderLayer& layer, const Batch& batch) {
  const std::int64_t num_rows = batch.num_rows(), hidden_size = encoder_.hidden_size;
  float* q = qkv_.data();
  linear(hidden_.data(), layer.qkv, q, num_rows);
  const kernels::KvLayerView cache = cache_->layer_view(0);
  ops_.kv_store({q + hidden_size, q + 2 * hidden_size, 3 * hidden_size, batch.slots.data(), cache, num_rows}, kStream);
  kernels::AttentionArgs args;
  args.query = q;
  args.query_stride = 3 * hidden_size;
  args.output = attended_.data();
  args.output_stride = hidden_size;
  args.cache = cache;
  args.sequences = batch.sequences;
  args.num_heads = encoder_.num_heads;
  args.scale = 1.0f / std::sqrt(static_cast<float>(encoder_.head_dim()));
  ops_.attention(args, kStream);
  linear(attended_.data(), layer.attention_output, hidden_.data(), num_rows, kernels::OutputMode::kAdd);
  norm(layer.attention_norm, num_rows);
}

void EncoderModel::forward(const Batch& batch) {
  const std::int64_t num_rows = batch.num_rows(), size = encoder_.intermediate_size;
  embed_tokens(batch);
  for (const EncoderLayer& layer : weights_->layers) {
    attention(layer, batch);
    float* inner = inner_.data();
    linear(hidden_.data(), layer.up, inner, num_rows);
    ops_.activation({inner, nullptr, size, inner, size, num_rows, size, encoder_.activation}, kStream);
    linear(inner, layer.down, hidden_.data(), num_rows, kernels::OutputMode::kAdd);
    norm(layer.ffn_norm, num_rows);
  }
}

std::vector<float> EncoderModel::mean_of_rows(std::int64_t begin, std::int64_t end) const {
  const std::int64_t size = encoder_.hidden_size;
  std::vector<double> sums(static_cast<std::size_t>(size));
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::int64_t i = 0; i < size; ++i) {
      sums[static_cast<std::size_t>(i)] += hidden_[static_cast<std::size_t>(row * size + i)];
    }
  }
  double squares = 0.0;
  for (const double sum : sums) squares += sum * sum;
  const double length = std::max(std::sqrt(squares), 1e-12);
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / length));
  return mean;
}

std::vector<std::vector<float>> EncoderModel::embed(std::span<const TokenIds> texts) {
  std::vector<std::vector<float>> embeddings(texts.size());
  run(texts, [&](std::size_t first, const Batch& batch) {
    for (std::size_t i = 0; i + 1 < batch.first_rows.size(); ++i) {
      embeddings[first + i] = mean_of_rows(batch.first_rows[i], batch.first_rows[i + 1]);
    }
  });
  return embeddings;
}

// The head reads each text's first token: classifier(tanh(pooler(x))).
std::vector<std::vector<float>> EncoderModel::classify(std::span<const TokenIds> texts) {
  TRIREME_CHECK(encoder_.classifies());
  std::vector<std::vector<float>> logits(texts.size());
  const auto num_labels = static_cast<std::int64_t>(encoder_.labels.size());
  run(texts, [&](std::size_t first, const Batch& batch) {
    std::vector<std::int32_t> rows(batch.first_rows.begin(), batch.first_rows.end() - 1);
    const auto num_texts = static_cast<std::int64_t>(rows.size());
    float* pooled = qkv_.data();
    ops_.gather_rows({hidden_.data(), rows.data(), attended_.data(), num_texts, encoder_.hidden_size}, kStream);
    linear(attended_.data(), weights_->pooler, pooled, num_texts);
    ops_.softcap({pooled, num_texts * encoder_.hidden_size, 1.0f}, kStream);  // a cap of 1 is tanh
    std::vector<float> outputs(static_cast<std::size_t>(num_texts * num_labels));
    linear(pooled, weights_->classifier, outputs.data(), num_texts);
    for (std::int64_t i = 0; i < num_texts; ++i) {
      const auto begin = outputs.begin() + i * num_labels;
      logits[first + static_cast<std::size_t>(i)].assign(begin, begin + num_labels);
    }
  });
  return logits;
}

}  // namespace trireme::encoder
