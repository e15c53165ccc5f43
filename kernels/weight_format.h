// WeightFormat: how the elements of a packed matrix are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trireme::kernels {

// kInt8: whole numbers within ±127 and a float32 scale per output; activations are quantised per row.
// kQ8_0, kQ4_0, kQ4_1: groups of kGroupSize consecutive inputs with a float16 scale d each, element = d * q (q within
// ±127), d * (q - 8) and d * q + m (q in 0 … 15, float16 minimum m): GGUF's formats of these names. Activations are
// quantised per row and group.
enum class WeightFormat : std::uint8_t { kF32, kF16, kBF16, kInt8, kQ8_0, kQ4_0, kQ4_1 };

inline constexpr std::int64_t kGroupSize = 32;

// Whole numbers with scales, multiplied as whole numbers.
constexpr bool is_quantised(WeightFormat format) {
  return format >= WeightFormat::kInt8;
}
constexpr bool has_groups(WeightFormat format) {
  return format >= WeightFormat::kQ8_0;
}
constexpr bool has_four_bits(WeightFormat format) {
  return format == WeightFormat::kQ4_0 || format == WeightFormat::kQ4_1;
}

// What is stored as q means q - zero_point.
constexpr std::int32_t zero_point(WeightFormat format) {
  return format == WeightFormat::kQ4_0 ? 8 : 0;
}

constexpr std::string_view to_string(WeightFormat format) {
  switch (format) {
    case WeightFormat::kF32: return "f32";
    case WeightFormat::kF16: return "f16";
    case WeightFormat::kBF16: return "bf16";
    case WeightFormat::kInt8: return "int8";
    case WeightFormat::kQ8_0: return "q8_0";
    case WeightFormat::kQ4_0: return "q4_0";
    case WeightFormat::kQ4_1: return "q4_1";
  }
  return "?";
}

}  // namespace trireme::kernels
