#include "kernels/packed_matrix.h"

#include "base/check.h"

namespace trireme::kernels {
namespace {

// The elements of one out_feature lie kPanelWidth apart.
template <typename Element, typename Round>
void scatter_row(const float* row, std::int64_t size, std::byte* first, Round round) {
  auto* packed = reinterpret_cast<Element*>(first);
  for (std::int64_t i = 0; i < size; ++i) packed[i * kPanelWidth] = round(row[i]);
}

}  // namespace

void pack_rows(const PackedMatrixShape& shape, const float* rows, std::int64_t first_row, std::int64_t num_rows,
               std::byte* packed) {
  TRIREME_CHECK(first_row >= 0 && num_rows >= 0 && first_row + num_rows <= shape.out_features)
      << first_row << " + " << num_rows << " of " << shape.out_features;
  for (std::int64_t r = 0; r < num_rows; ++r) {
    const float* row = rows + r * shape.in_features;
    const std::int64_t out = first_row + r;
    const std::int64_t first = (out / kPanelWidth) * shape.in_features * kPanelWidth + out % kPanelWidth;
    std::byte* target = packed + static_cast<std::size_t>(first) * base::size_bytes(shape.type);
    switch (shape.type) {
      case base::DType::kF32: scatter_row<float>(row, shape.in_features, target, [](float x) { return x; }); break;
      case base::DType::kF16: scatter_row<std::uint16_t>(row, shape.in_features, target, base::f32_to_f16); break;
      case base::DType::kBF16: scatter_row<std::uint16_t>(row, shape.in_features, target, base::f32_to_bf16); break;
      default: TRIREME_CHECK(false) << "weights of type " << base::to_string(shape.type);
    }
  }
}

}  // namespace trireme::kernels
