#include "runtime/kv_cache/chunk_layout.h"

#include <string>

namespace trireme::kv_cache {
namespace {

constexpr std::int32_t kTokenMultiple = 4;
constexpr std::int32_t kAlignment = 16;

std::int64_t element_bytes(base::DType type, std::int64_t count) {
  return static_cast<std::int64_t>(base::size_bytes(type)) * count;
}

std::int64_t scale_bytes(base::DType type) {
  return type == base::DType::kI8 ? 4 : 0;
}

std::int32_t align_up(std::int64_t bytes) {
  return static_cast<std::int32_t>((bytes + kAlignment - 1) / kAlignment * kAlignment);
}

// Fills in the offsets; returns the bytes that the chunk takes.
std::int64_t place_parts(kernels::KvChunkLayout& layout) {
  const std::int64_t tokens = layout.block_tokens;
  layout.key_offset = 0;
  layout.value_offset = align_up(element_bytes(layout.key_type, tokens * layout.head_dim));
  layout.key_scale_offset = align_up(layout.value_offset + element_bytes(layout.value_type, tokens * layout.head_dim));
  layout.value_scale_offset = align_up(layout.key_scale_offset + scale_bytes(layout.key_type) * tokens);
  return layout.value_scale_offset + scale_bytes(layout.value_type) * tokens;
}

}  // namespace

std::int64_t token_bytes(const ChunkOptions& options, std::int32_t head_dim) {
  return element_bytes(options.key_type, head_dim) + element_bytes(options.value_type, head_dim) +
         scale_bytes(options.key_type) + scale_bytes(options.value_type);
}

base::Result<kernels::KvChunkLayout> make_chunk_layout(const ChunkOptions& options, std::int32_t head_dim) {
  kernels::KvChunkLayout layout;
  layout.key_type = options.key_type;
  layout.value_type = options.value_type;
  layout.head_dim = head_dim;
  layout.block_tokens = options.block_tokens;
  if (options.block_tokens == 0) {
    const std::int64_t fitting = options.chunk_bytes / token_bytes(options, head_dim);
    layout.block_tokens = static_cast<std::int32_t>(fitting / kTokenMultiple * kTokenMultiple);
    // The padding between the parts can cost the last few tokens.
    while (layout.block_tokens > 0 && place_parts(layout) > options.chunk_bytes) layout.block_tokens -= kTokenMultiple;
  }
  const std::string chunk = "kv_cache.chunk_bytes = " + std::to_string(options.chunk_bytes);
  if (layout.block_tokens <= 0) {
    return base::invalid_argument(chunk + " holds no " + std::to_string(kTokenMultiple) + " tokens of head_dim " +
                                  std::to_string(head_dim) + ": raise it");
  }
  if (layout.block_tokens % kTokenMultiple != 0) {
    return base::invalid_argument("kv_cache.block_tokens = " + std::to_string(layout.block_tokens) +
                                  " must be a multiple of " + std::to_string(kTokenMultiple));
  }
  if (place_parts(layout) > options.chunk_bytes) {
    return base::invalid_argument("kv_cache.block_tokens = " + std::to_string(layout.block_tokens) +
                                  " tokens of head_dim " + std::to_string(head_dim) + " do not fit " + chunk);
  }
  return layout;
}

}  // namespace trireme::kv_cache
