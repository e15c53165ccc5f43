// Geometry of one KV chunk: how many tokens of one KV head of one layer fit into it, and where their parts lie.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/result.h"
#include "kernels/kv_layer_view.h"

namespace trireme::kv_cache {

struct ChunkOptions {
  std::int64_t chunk_bytes = 16 * 1024;
  std::int32_t block_tokens = 0;  // 0: the largest multiple of 4 that fits
  base::DType key_type = base::DType::kF16;
  base::DType value_type = base::DType::kI8;
};

// Errors: no four tokens fit, or block_tokens is no multiple of 4 or does not fit.
base::Result<kernels::KvChunkLayout> make_chunk_layout(const ChunkOptions& options, std::int32_t head_dim);

// Bytes of one token of one head: key, value and their scales.
std::int64_t token_bytes(const ChunkOptions& options, std::int32_t head_dim);

}  // namespace trireme::kv_cache
