// Where keys and values lie in a chunk (kv_layer_view.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kv_layer_view.h"

namespace trireme::kernels::cpu {

struct KvAddress {
  std::byte* elements;  // of the layout's type
  std::int64_t stride;  // in elements, from one to the next of a token's head
  float* scale;         // of int8; else not to be used
};

inline KvAddress key_address(const KvChunkLayout& layout, std::byte* chunk, std::int64_t token) {
  const auto element_bytes = static_cast<std::int64_t>(base::size_bytes(layout.key_type));
  return {chunk + layout.key_offset + token * element_bytes, layout.block_tokens,
          reinterpret_cast<float*>(chunk + layout.key_scale_offset) + token};
}

inline KvAddress value_address(const KvChunkLayout& layout, std::byte* chunk, std::int64_t token) {
  const auto token_bytes = layout.head_dim * static_cast<std::int64_t>(base::size_bytes(layout.value_type));
  return {chunk + layout.value_offset + token * token_bytes, 1,
          reinterpret_cast<float*>(chunk + layout.value_scale_offset) + token};
}

}  // namespace trireme::kernels::cpu
