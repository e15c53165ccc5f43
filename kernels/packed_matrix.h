// PackedMatrix: the one layout of Linear weights that all instruction sets of the CPU read, contiguous, so that a
// checkpoint can hold it as it lies. Owned by the model; kernels see views.
//
// Layout: the out_features are cut into panels of kPanelWidth; the last panel is padded with zeros. A panel holds, for
// each in_feature in turn, the weights of its kPanelWidth out_features side by side:
//     element(out, in) = data[((out / kPanelWidth) * in_features + in) * kPanelWidth + out % kPanelWidth]
// So a lane of a vector is an output, and each output is one sum over `in` in ascending order, whatever the vector
// length or the number of rows: that is what makes results independent of batching.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace trireme::kernels {

inline constexpr std::int64_t kPanelWidth = 32;

struct PackedMatrixShape {
  base::DType type = base::DType::kF16;  // kF32, kF16 or kBF16
  std::int64_t out_features = 0;
  std::int64_t in_features = 0;

  std::int64_t num_panels() const { return (out_features + kPanelWidth - 1) / kPanelWidth; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(num_panels() * in_features * kPanelWidth) * base::size_bytes(type);
  }
};

// Non-owning; `data` is 64-byte aligned and holds shape.bytes().
struct PackedMatrixView {
  PackedMatrixShape shape;
  const std::byte* data = nullptr;
};

// Rounds rows [first_row, first_row + num_rows) of a row-major float32 matrix [num_rows, in_features] (row =
// out_feature) to shape.type and scatters them to their place in `packed` (shape.bytes(), zeroed before the first
// call). Different rows may be packed from different threads at once.
void pack_rows(const PackedMatrixShape& shape, const float* rows, std::int64_t first_row, std::int64_t num_rows,
               std::byte* packed);

}  // namespace trireme::kernels
