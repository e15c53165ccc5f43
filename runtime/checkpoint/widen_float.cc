// F32, F16 and BF16: exact.
#include <bit>
#include <cstring>

#include "runtime/checkpoint/widen.h"

namespace trireme::checkpoint {
namespace {

std::uint16_t load_u16(const std::byte* input) {
  std::uint16_t value;
  std::memcpy(&value, input, sizeof value);
  return value;
}

// Like base::f16_to_f32, but with selects for branches, so that loops over it vectorise. Subnormals: the mantissa below
// an exponent of 2^-14, less that exponent's leading one.
float branchless_f16_to_f32(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7FFFu;
  const std::uint32_t shifted = magnitude << 13;
  const std::uint32_t rebias = magnitude >= 0x7C00u ? (224u << 23) : (112u << 23);
  const float subnormal = std::bit_cast<float>(shifted + (113u << 23)) - 0x1p-14f;
  const std::uint32_t bits = magnitude < 0x0400u ? std::bit_cast<std::uint32_t>(subnormal) : shifted + rebias;
  return std::bit_cast<float>(bits | ((half & 0x8000u) << 16));
}

}  // namespace

void widen_f32(const std::byte* input, std::int64_t count, float* output) {
  if (count > 0) std::memcpy(output, input, static_cast<std::size_t>(count) * sizeof(float));
}

void widen_f16(const std::byte* input, std::int64_t count, float* output) {
  for (std::int64_t i = 0; i < count; ++i) output[i] = branchless_f16_to_f32(load_u16(input + 2 * i));
}

void widen_bf16(const std::byte* input, std::int64_t count, float* output) {
  for (std::int64_t i = 0; i < count; ++i) {
    output[i] = std::bit_cast<float>(static_cast<std::uint32_t>(load_u16(input + 2 * i)) << 16);
  }
}

}  // namespace trireme::checkpoint
