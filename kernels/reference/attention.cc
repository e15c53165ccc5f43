#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {
namespace {

// Element `i` of keys or values in a chunk, widened.
float element(const std::byte* elements, const float* scale, base::DType type, std::int64_t i) {
  if (type == base::DType::kF32) return reinterpret_cast<const float*>(elements)[i];
  if (type == base::DType::kF16) return base::f16_to_f32(reinterpret_cast<const std::uint16_t*>(elements)[i]);
  return static_cast<float>(reinterpret_cast<const std::int8_t*>(elements)[i]) * *scale;
}

// The cache of one sequence and one KV head by position.
struct CachedHead {
  const KvLayerView& cache;
  const std::int32_t* block_table;
  std::int64_t head;

  float key(std::int64_t position, std::int64_t i) const {
    const KvChunkLayout& layout = cache.layout;
    return read(position, layout.key_type, layout.key_offset, layout.key_scale_offset,
                i * layout.block_tokens + token(position));
  }
  float value(std::int64_t position, std::int64_t i) const {
    const KvChunkLayout& layout = cache.layout;
    return read(position, layout.value_type, layout.value_offset, layout.value_scale_offset,
                token(position) * layout.head_dim + i);
  }
  std::int64_t token(std::int64_t position) const { return position % cache.layout.block_tokens; }
  float read(std::int64_t position, base::DType type, std::int32_t offset, std::int32_t scale_offset,
             std::int64_t i) const {
    const std::byte* chunk = cache.chunk(block_table[position / cache.layout.block_tokens], head);
    const auto* scales = reinterpret_cast<const float*>(chunk + scale_offset);
    return element(chunk + offset, scales + token(position), type, i);
  }
};

void attend(const AttentionArgs& args, const CachedHead& cached, std::int64_t position, const float* query,
            float* output) {
  const std::int64_t head_dim = args.cache.layout.head_dim;
  const std::int64_t begin = args.window > 0 ? std::max<std::int64_t>(0, position - args.window + 1) : 0;
  std::vector<double> weights;
  for (std::int64_t k = begin; k <= position; ++k) {
    double dot = 0;
    for (std::int64_t i = 0; i < head_dim; ++i) dot += static_cast<double>(query[i]) * cached.key(k, i);
    dot *= args.scale;
    weights.push_back(args.softcap > 0 ? args.softcap * std::tanh(dot / args.softcap) : dot);
  }
  const double maximum = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - maximum);
  for (std::int64_t i = 0; i < head_dim; ++i) {
    double weighted = 0;
    for (std::int64_t k = begin; k <= position; ++k) {
      weighted += weights[static_cast<std::size_t>(k - begin)] * cached.value(k, i);
    }
    output[i] = static_cast<float>(weighted / sum);
  }
}

}  // namespace

void attention(const AttentionArgs& args) {
  const std::int64_t head_dim = args.cache.layout.head_dim;
  const std::int64_t group = args.num_heads / args.cache.num_kv_heads;
  for (const AttentionSequence& sequence : args.sequences) {
    for (std::int64_t i = 0; i < sequence.num_rows; ++i) {
      const std::int64_t row = sequence.first_row + i;
      for (std::int64_t h = 0; h < args.num_heads; ++h) {
        attend(args, {args.cache, sequence.block_table, h / group}, sequence.first_position + i,
               args.query + row * args.query_stride + h * head_dim,
               args.output + row * args.output_stride + h * head_dim);
      }
    }
  }
}

}  // namespace trireme::kernels::reference
