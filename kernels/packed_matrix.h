// PackedMatrix: the one layout of Linear weights that all instruction sets of the CPU read, contiguous, so that a
// checkpoint can hold it as it lies. Owned by the model; kernels see views.
//
// The out_features are cut into panels of kPanelWidth; the last panel is padded with zeros. A lane of a vector is an
// output, whatever the vector length or the number of rows: that is what makes results independent of batching.
//
// Float formats: a panel holds, for each in_feature in turn, the weights of its outputs side by side:
//     element(out, in) = data[((out / kPanelWidth) * in_features + in) * kPanelWidth + out % kPanelWidth]
// Quantised formats: in_features are padded with zeros to depth(), and four consecutive inputs of one output, a quad,
// lie together. A panel is one or more blocks, each [scales][minimums][quants]:
//     kInt8   one block for all inputs: float32 scales [kPanelWidth]; int8 [depth / 4][kPanelWidth][4]
//     kQ8_0   a block per group: float16 scales [kPanelWidth]; int8 [8][kPanelWidth][4]
//     kQ4_0   a block per group: float16 scales [kPanelWidth]; bytes [4][kPanelWidth][4], whose low half is element i
//             of the group, i = 4 * quad + place, and whose high half is element i + 16
//     kQ4_1   likewise with float16 minimums [kPanelWidth] after the scales
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/weight_format.h"

namespace trireme::kernels {

inline constexpr std::int64_t kPanelWidth = 32;
inline constexpr std::int64_t kQuadSize = 4;
inline constexpr std::size_t kMatrixAlignment = 64;
// Depth of an AMX tile in bytes: int8's padding.
inline constexpr std::int64_t kInt8DepthMultiple = 64;
// The sum over in_features of products within 127 * 127 stays within 32 bits.
inline constexpr std::int64_t kMaxQuantisedInFeatures = std::int64_t{1} << 17;

// One block of a quantised panel that covers `depth` inputs.
struct BlockLayout {
  std::size_t quants_offset = 0;
  std::size_t bytes = 0;
};
constexpr BlockLayout block_layout(WeightFormat format, std::int64_t depth) {
  std::size_t factors = kPanelWidth * (format == WeightFormat::kInt8 ? sizeof(float) : sizeof(std::uint16_t));
  if (format == WeightFormat::kQ4_1) factors *= 2;
  return {factors, factors + static_cast<std::size_t>(depth) * kPanelWidth / (has_four_bits(format) ? 2 : 1)};
}

struct PackedMatrixShape {
  WeightFormat format = WeightFormat::kF16;
  std::int64_t out_features = 0;
  std::int64_t in_features = 0;

  std::int64_t num_panels() const { return (out_features + kPanelWidth - 1) / kPanelWidth; }
  std::int64_t depth() const;  // in_features and their padding
  std::int64_t num_groups() const { return depth() / kGroupSize; }
  BlockLayout block() const { return block_layout(format, has_groups(format) ? kGroupSize : depth()); }
  std::int64_t num_blocks() const { return has_groups(format) ? num_groups() : 1; }
  std::size_t panel_bytes() const;
  std::size_t bytes() const { return static_cast<std::size_t>(num_panels()) * panel_bytes(); }
  // From its beginning to that of the next, where matrices lie one behind the other.
  std::size_t aligned_bytes() const { return (bytes() + kMatrixAlignment - 1) / kMatrixAlignment * kMatrixAlignment; }
};

// Non-owning; `data` is aligned to kMatrixAlignment and holds shape.bytes().
struct PackedMatrixView {
  PackedMatrixShape shape;
  const std::byte* data = nullptr;

  const std::byte* panel(std::int64_t index) const {
    return data + static_cast<std::size_t>(index) * shape.panel_bytes();
  }
};

// Rounds rows [first_row, first_row + num_rows) of a row-major float32 matrix [num_rows, in_features] (row =
// out_feature) to shape.format and scatters them to their place in `packed` (shape.bytes(), zeroed before the first
// call). Different rows may be packed from different threads at once. Quantised formats: see quantise_weights.h; values
// are finite.
void pack_rows(const PackedMatrixShape& shape, const float* rows, std::int64_t first_row, std::int64_t num_rows,
               std::byte* packed);

// One row that is quantised already, in groups.
struct GroupedRow {
  std::span<const std::uint16_t> scales;    // [num_groups], float16
  std::span<const std::uint16_t> minimums;  // [num_groups], float16; kQ4_1 only
  std::span<const std::int8_t> quants;      // [num_groups * kGroupSize], what scales multiply, within quant_range
};

struct QuantRange {
  std::int32_t low, high;
};
constexpr QuantRange quant_range(WeightFormat format) {
  if (has_four_bits(format)) return {-zero_point(format), 15 - zero_point(format)};
  return {-127, 127};
}

// Scatters `row` to its place, as it is. Precondition: shape.format has groups, quants are in range.
void pack_row(const PackedMatrixShape& shape, const GroupedRow& row, std::int64_t index, std::byte* packed);

}  // namespace trireme::kernels
