// Reads one element of a PackedMatrix, widened exactly.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "kernels/packed_matrix.h"

namespace trireme::kernels::reference {

inline float packed_element(const PackedMatrixView& matrix, std::int64_t out, std::int64_t in) {
  const std::int64_t index = ((out / kPanelWidth) * matrix.shape.in_features + in) * kPanelWidth + out % kPanelWidth;
  if (matrix.shape.type == base::DType::kF32) return reinterpret_cast<const float*>(matrix.data)[index];
  const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(matrix.data)[index];
  return matrix.shape.type == base::DType::kF16 ? base::f16_to_f32(bits) : base::bf16_to_f32(bits);
}

}  // namespace trireme::kernels::reference
