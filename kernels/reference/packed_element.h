// Reads one element of a PackedMatrix, widened: exactly, or for quantised formats as their formula says in float32.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "kernels/packed_matrix.h"

namespace trireme::kernels::reference {

// One element of a quantised matrix: as stored, less its zero point, and what it is multiplied with.
struct QuantisedElement {
  std::int32_t quant;
  float scale;
  float minimum;  // 0 where the format has none
};

inline QuantisedElement quantised_element(const PackedMatrixView& matrix, std::int64_t out, std::int64_t in) {
  const PackedMatrixShape& shape = matrix.shape;
  const std::int64_t lane = out % kPanelWidth;
  const std::byte* block = matrix.panel(out / kPanelWidth);
  const BlockLayout layout = shape.block();
  if (shape.format == WeightFormat::kInt8) {
    const auto* quants = reinterpret_cast<const std::int8_t*>(block + layout.quants_offset);
    const float scale = reinterpret_cast<const float*>(block)[lane];
    return {quants[(in / kQuadSize * kPanelWidth + lane) * kQuadSize + in % kQuadSize], scale, 0.0f};
  }
  block += static_cast<std::size_t>(in / kGroupSize) * layout.bytes;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(block);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(block + layout.quants_offset);
  const std::int64_t in_group = in % kGroupSize;
  const float scale = base::f16_to_f32(halves[lane]);
  if (!has_four_bits(shape.format)) {
    const std::uint8_t byte = bytes[(in_group / kQuadSize * kPanelWidth + lane) * kQuadSize + in % kQuadSize];
    return {static_cast<std::int8_t>(byte), scale, 0.0f};
  }
  const std::int64_t in_half = in_group % (kGroupSize / 2);
  const std::uint8_t byte = bytes[(in_half / kQuadSize * kPanelWidth + lane) * kQuadSize + in_half % kQuadSize];
  const int nibble = in_group < kGroupSize / 2 ? byte & 15 : byte >> 4;
  const float minimum = shape.format == WeightFormat::kQ4_1 ? base::f16_to_f32(halves[kPanelWidth + lane]) : 0.0f;
  return {nibble - zero_point(shape.format), scale, minimum};
}

inline float packed_element(const PackedMatrixView& matrix, std::int64_t out, std::int64_t in) {
  const WeightFormat format = matrix.shape.format;
  if (is_quantised(format)) {
    const QuantisedElement element = quantised_element(matrix, out, in);
    return element.scale * static_cast<float>(element.quant) + element.minimum;
  }
  const std::int64_t index = ((out / kPanelWidth) * matrix.shape.in_features + in) * kPanelWidth + out % kPanelWidth;
  if (format == WeightFormat::kF32) return reinterpret_cast<const float*>(matrix.data)[index];
  const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(matrix.data)[index];
  return format == WeightFormat::kF16 ? base::f16_to_f32(bits) : base::bf16_to_f32(bits);
}

}  // namespace trireme::kernels::reference
