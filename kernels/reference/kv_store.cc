#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {
namespace {

// Where one head of one token lies in a chunk.
struct TokenSlot {
  std::byte* elements;
  std::int64_t stride;  // from one element to the next, in elements
  float* scale;         // used by int8 only
};

void store_int8(const float* input, std::int64_t size, const TokenSlot& slot) {
  auto* output = reinterpret_cast<std::int8_t*>(slot.elements);
  float maximum = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < size; ++i) {
    maximum = std::max(maximum, std::abs(input[i]));
    finite = finite && std::isfinite(input[i]);
  }
  // Not a number must not look like one afterwards.
  *slot.scale = finite ? maximum / 127.0f : std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t i = 0; i < size; ++i) {
    const bool is_zero = !finite || *slot.scale == 0;
    const float quotient = is_zero ? 0.0f : std::clamp(input[i] / *slot.scale, -127.0f, 127.0f);
    output[i * slot.stride] = static_cast<std::int8_t>(std::nearbyint(quotient));
  }
}

void store(const float* input, std::int64_t size, base::DType type, const TokenSlot& slot) {
  if (type == base::DType::kI8) return store_int8(input, size, slot);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t at = i * slot.stride;
    if (type == base::DType::kF32) reinterpret_cast<float*>(slot.elements)[at] = input[i];
    if (type == base::DType::kF16) reinterpret_cast<std::uint16_t*>(slot.elements)[at] = base::f32_to_f16(input[i]);
  }
}

}  // namespace

void kv_store(const KvStoreArgs& args) {
  const KvChunkLayout& layout = args.cache.layout;
  const std::int64_t size = layout.head_dim;
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const std::int64_t block = args.slots[r] / layout.block_tokens;
    const std::int64_t offset = args.slots[r] % layout.block_tokens;
    for (std::int64_t h = 0; h < args.cache.num_kv_heads; ++h) {
      std::byte* chunk = args.cache.chunk(block, h);
      const std::int64_t input = r * args.input_stride + h * size;
      const auto key_bytes = static_cast<std::int64_t>(base::size_bytes(layout.key_type));
      store(args.keys + input, size, layout.key_type,
            {chunk + layout.key_offset + offset * key_bytes, layout.block_tokens,
             reinterpret_cast<float*>(chunk + layout.key_scale_offset) + offset});
      const auto value_bytes = static_cast<std::int64_t>(base::size_bytes(layout.value_type)) * size;
      store(args.values + input, size, layout.value_type,
            {chunk + layout.value_offset + offset * value_bytes, 1,
             reinterpret_cast<float*>(chunk + layout.value_scale_offset) + offset});
    }
  }
}

}  // namespace trireme::kernels::reference
