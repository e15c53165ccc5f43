#include "kernels/packed_matrix.h"

#include <cstring>

#include "base/check.h"
#include "base/dtype.h"
#include "kernels/quantise_weights.h"

namespace trireme::kernels {
namespace {

std::size_t element_bytes(WeightFormat format) {
  return format == WeightFormat::kF32 ? 4 : 2;
}

// The elements of one out_feature lie kPanelWidth apart.
template <typename Element, typename Round>
void scatter_row(const float* row, std::int64_t size, std::byte* first, Round round) {
  auto* packed = reinterpret_cast<Element*>(first);
  for (std::int64_t i = 0; i < size; ++i) packed[i * kPanelWidth] = round(row[i]);
}

void pack_float_row(const PackedMatrixShape& shape, const float* row, std::byte* panel, std::int64_t lane) {
  std::byte* target = panel + static_cast<std::size_t>(lane) * element_bytes(shape.format);
  if (shape.format == WeightFormat::kF32) {
    scatter_row<float>(row, shape.in_features, target, [](float x) { return x; });
  } else if (shape.format == WeightFormat::kF16) {
    scatter_row<std::uint16_t>(row, shape.in_features, target, base::f32_to_f16);
  } else {
    scatter_row<std::uint16_t>(row, shape.in_features, target, base::f32_to_bf16);
  }
}

// Quads of one output lie kPanelWidth quads apart.
void scatter_quants(std::span<const std::int8_t> quants, std::byte* block_quants, std::int64_t lane) {
  for (std::size_t i = 0; i < quants.size(); ++i) {
    const std::size_t quad = i / kQuadSize, place = i % kQuadSize;
    block_quants[(quad * kPanelWidth + static_cast<std::size_t>(lane)) * kQuadSize + place] =
        static_cast<std::byte>(quants[i]);
  }
}

void scatter_nibbles(std::span<const std::int8_t> quants, std::int32_t zero, std::byte* block_quants,
                     std::int64_t lane) {
  constexpr std::size_t kHalf = kGroupSize / 2;
  for (std::size_t i = 0; i < kHalf; ++i) {
    const std::size_t quad = i / kQuadSize, place = i % kQuadSize;
    block_quants[(quad * kPanelWidth + static_cast<std::size_t>(lane)) * kQuadSize + place] =
        static_cast<std::byte>((quants[i] + zero) | ((quants[i + kHalf] + zero) << 4));
  }
}

void pack_channel_row(const PackedMatrixShape& shape, std::span<const float> row, std::byte* panel, std::int64_t lane) {
  const ChannelRow channel = quantise_channel(row);
  std::memcpy(panel + static_cast<std::size_t>(lane) * sizeof(float), &channel.scale, sizeof(float));
  scatter_quants(channel.quants, panel + shape.block().quants_offset, lane);
}

}  // namespace

std::int64_t PackedMatrixShape::depth() const {
  const std::int64_t multiple = has_groups(format) ? kGroupSize : is_quantised(format) ? kInt8DepthMultiple : 1;
  return (in_features + multiple - 1) / multiple * multiple;
}

std::size_t PackedMatrixShape::panel_bytes() const {
  if (is_quantised(format)) return static_cast<std::size_t>(num_blocks()) * block().bytes;
  return static_cast<std::size_t>(in_features * kPanelWidth) * element_bytes(format);
}

void pack_rows(const PackedMatrixShape& shape, const float* rows, std::int64_t first_row, std::int64_t num_rows,
               std::byte* packed) {
  TRIREME_CHECK(first_row >= 0 && num_rows >= 0 && first_row + num_rows <= shape.out_features)
      << first_row << " + " << num_rows << " of " << shape.out_features;
  GroupedRowBuffer grouped;
  for (std::int64_t r = 0; r < num_rows; ++r) {
    const std::span<const float> row(rows + r * shape.in_features, static_cast<std::size_t>(shape.in_features));
    const std::int64_t out = first_row + r;
    std::byte* panel = packed + static_cast<std::size_t>(out / kPanelWidth) * shape.panel_bytes();
    if (has_groups(shape.format)) {
      quantise_groups(shape.format, row, grouped);
      pack_row(shape, grouped.view(), out, packed);
    } else if (shape.format == WeightFormat::kInt8) {
      pack_channel_row(shape, row, panel, out % kPanelWidth);
    } else {
      pack_float_row(shape, row.data(), panel, out % kPanelWidth);
    }
  }
}

void pack_row(const PackedMatrixShape& shape, const GroupedRow& row, std::int64_t index, std::byte* packed) {
  const auto num_groups = static_cast<std::size_t>(shape.num_groups());
  TRIREME_CHECK(has_groups(shape.format) && index >= 0 && index < shape.out_features) << index;
  TRIREME_CHECK(row.scales.size() == num_groups && row.quants.size() == num_groups * kGroupSize) << row.scales.size();
  TRIREME_CHECK(shape.format != WeightFormat::kQ4_1 || row.minimums.size() == num_groups) << row.minimums.size();
  std::byte* block = packed + static_cast<std::size_t>(index / kPanelWidth) * shape.panel_bytes();
  const std::int64_t lane = index % kPanelWidth;
  const BlockLayout layout = shape.block();
  for (std::size_t g = 0; g < num_groups; ++g, block += layout.bytes) {
    auto* halves = reinterpret_cast<std::uint16_t*>(block);
    halves[lane] = row.scales[g];
    if (shape.format == WeightFormat::kQ4_1) halves[kPanelWidth + lane] = row.minimums[g];
    const auto quants = row.quants.subspan(g * kGroupSize, kGroupSize);
    if (has_four_bits(shape.format)) {
      scatter_nibbles(quants, zero_point(shape.format), block + layout.quants_offset, lane);
    } else {
      scatter_quants(quants, block + layout.quants_offset, lane);
    }
  }
}

}  // namespace trireme::kernels
