#include "launch/bench/ladder/full_length_cache.h"

#include "runtime/kv_cache/chunk_layout.h"

namespace trireme::launch {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

FullLengthCache::FullLengthCache(const model::ModelDescription& model, std::int32_t max_tokens) {
  constexpr std::int64_t kBlockMultiple = 4, kChunkMultiple = 64;
  kv_cache::ChunkOptions options;
  options.key_type = options.value_type = base::DType::kF32;
  block_tokens_ = static_cast<std::int32_t>(round_up(max_tokens, kBlockMultiple));
  chunk_bytes_ = round_up(block_tokens_ * kv_cache::token_bytes(options, model.head_dim), kChunkMultiple);
  sequence_bytes_ = chunk_bytes_ * model.num_kv_heads * model.num_layers();
}

void FullLengthCache::reserve(std::int32_t num_sequences, config::Config& config) const {
  config.kv_cache.key = config.kv_cache.value = base::DType::kF32;
  config.kv_cache.block_tokens = block_tokens_;
  config.kv_cache.chunk_bytes = chunk_bytes_;
  config.kv_cache.memory_bytes = bytes(num_sequences);
  config.scheduler.max_batch = num_sequences;
}

}  // namespace trireme::launch
