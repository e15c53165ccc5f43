// Where the keys or values of one token and head lie in a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kv_layer_view.h"

namespace trireme::kernels::cpu {

struct KvAddress {
  std::byte* elements;  // [head_dim] of the layout's type
  float* scale;         // of int8; else not to be used
};

inline KvAddress kv_address(std::byte* elements, std::byte* scales, std::int64_t token, std::int64_t token_bytes) {
  return {elements + token * token_bytes, reinterpret_cast<float*>(scales) + token};
}

inline KvAddress key_address(const KvChunkLayout& layout, std::byte* chunk, std::int64_t token) {
  const auto token_bytes = layout.head_dim * static_cast<std::int64_t>(base::size_bytes(layout.key_type));
  return kv_address(chunk + layout.key_offset, chunk + layout.key_scale_offset, token, token_bytes);
}

inline KvAddress value_address(const KvChunkLayout& layout, std::byte* chunk, std::int64_t token) {
  const auto token_bytes = layout.head_dim * static_cast<std::int64_t>(base::size_bytes(layout.value_type));
  return kv_address(chunk + layout.value_offset, chunk + layout.value_scale_offset, token, token_bytes);
}

}  // namespace trireme::kernels::cpu
