// Rounding of one row of weights to a quantised format. Round to nearest even throughout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/packed_matrix.h"
#include "kernels/weight_format.h"

namespace trireme::kernels {

// kInt8: scale = max|w| / 127, q = round(w / scale).
struct ChannelRow {
  float scale = 0.0f;
  std::vector<std::int8_t> quants;  // [size]
};
ChannelRow quantise_channel(std::span<const float> row);

// Owner of a GroupedRow.
struct GroupedRowBuffer {
  std::vector<std::uint16_t> scales, minimums;
  std::vector<std::int8_t> quants;

  GroupedRow view() const { return {scales, minimums, quants}; }
};

// Groups of kGroupSize, the last padded with zeros. With w the group's weights and d rounded to float16:
//     kQ8_0   d = max|w| / 127, q = round(w / d)
//     kQ4_0   d = -w* / 8 where w* is the weight of largest magnitude, q = round(w / d)
//     kQ4_1   m = min w, d = (max w - m) / 15, q = round((w - m) / d)
// With 4 bits the range is also tried shrunk by some percents, cutting the outermost weights; the least squared error
// wins. q is clamped to quant_range(format).
void quantise_groups(WeightFormat format, std::span<const float> row, GroupedRowBuffer& buffer);

}  // namespace trireme::kernels
