// KvLayerView: how a kernel finds keys and values of one layer in the chunk pool. Non-owning.
//
// One chunk holds, for one KV head of one layer, a block of `block_tokens` tokens:
//     keys   [head_dim, block_tokens] key_type       at key_offset
//     values [block_tokens, head_dim] value_type     at value_offset
//     key scales   [block_tokens] f32 (int8 only)    at key_scale_offset
//     value scales [block_tokens] f32 (int8 only)    at value_scale_offset
// int8: x ≈ scale * q, scale = max|x| / 127 over one token's head_dim elements, q = round to nearest even in ±127
// (scale 0 where all elements are 0). Keys lie transposed, so that a vector of scores takes one load per element of the
// head and no sum across lanes; the weighted sum of values likewise takes rows of values.
// Kernels may read up to kKvReadSlack bytes past a chunk's keys, also past the last chunk, without using what is there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace trireme::kernels {

inline constexpr std::int64_t kKvReadSlack = 64;

struct KvChunkLayout {
  base::DType key_type = base::DType::kF16;   // kF32, kF16 or kI8
  base::DType value_type = base::DType::kI8;  // kF32, kF16 or kI8
  std::int32_t block_tokens = 0;              // multiple of 4
  std::int32_t head_dim = 0;                  // multiple of 4
  std::int32_t key_offset = 0;                // byte offsets in a chunk, each a multiple of 16
  std::int32_t value_offset = 0;
  std::int32_t key_scale_offset = 0;
  std::int32_t value_scale_offset = 0;
};

struct KvLayerView {
  KvChunkLayout layout;
  std::byte* base = nullptr;            // chunk of (block 0, head 0) of this layer
  std::int64_t block_stride_bytes = 0;  // from one block to the next
  std::int64_t head_stride_bytes = 0;   // from one KV head to the next
  std::int32_t num_kv_heads = 0;

  std::byte* chunk(std::int64_t block, std::int64_t head) const {
    return base + block * block_stride_bytes + head * head_stride_bytes;
  }
};

}  // namespace trireme::kernels
