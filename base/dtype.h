// Element types of tensors, and exact scalar conversions between float32, IEEE half and bfloat16.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trireme::base {

enum class DType : std::uint8_t { kF32, kF16, kBF16, kI8 };

constexpr std::size_t size_bytes(DType type) {
  switch (type) {
    case DType::kF32: return 4;
    case DType::kF16:
    case DType::kBF16: return 2;
    case DType::kI8: return 1;
  }
  return 0;
}

constexpr std::string_view to_string(DType type) {
  switch (type) {
    case DType::kF32: return "f32";
    case DType::kF16: return "f16";
    case DType::kBF16: return "bf16";
    case DType::kI8: return "int8";
  }
  return "?";
}

// IEEE 754 binary16 → binary32, exact.
constexpr float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1Fu;
  const std::uint32_t mantissa = half & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

// binary32 → binary16, rounding to nearest even; overflow gives infinity.
constexpr std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);   // NaN
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // rounds to 2^16 or more
  if (magnitude < 0x38800000u) {                                                    // subnormal half or zero
    // Adding 2^-1 aligns the unit in the last place to 2^-24 and rounds to nearest even in hardware.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
}

constexpr float bf16_to_f32(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

// binary32 → bfloat16, rounding to nearest even.
constexpr std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // NaN stays NaN
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace trireme::base
