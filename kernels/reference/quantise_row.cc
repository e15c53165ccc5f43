#include "kernels/reference/quantise_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trireme::kernels::reference {
namespace {

struct BlockScale {
  float scale, inverse;
};

BlockScale scale_of(const float* values, std::int64_t size) {
  float largest = 0.0f;
  for (std::int64_t i = 0; i < size; ++i) {
    if (!std::isfinite(values[i])) return {std::numeric_limits<float>::quiet_NaN(), 0.0f};
    largest = std::max(largest, std::fabs(values[i]));
  }
  if (largest < kLeastQuantised) return {0.0f, 0.0f};
  return {largest / kMaxQuant, kMaxQuant / largest};
}

}  // namespace

void quantise_row(const float* input, std::int64_t in_features, std::int64_t row, const QuantisedRows& rows) {
  for (std::int64_t b = 0; b < rows.num_blocks; ++b) {
    const std::int64_t begin = b * rows.block_size();
    const std::int64_t size = std::clamp<std::int64_t>(in_features - begin, 0, rows.block_size());
    const BlockScale block = scale_of(input + begin, size);
    std::int8_t* quants = rows.values + row * rows.depth + begin;
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < rows.block_size(); ++i) {
      const bool is_value = i < size && block.inverse > 0.0f;
      quants[i] = is_value ? static_cast<std::int8_t>(std::nearbyint(input[begin + i] * block.inverse)) : 0;
      sum += quants[i];
    }
    rows.scales[b * rows.stride + row] = block.scale;
    rows.sums[b * rows.stride + row] = sum;
    rows.scaled_sums[b * rows.stride + row] = block.scale * static_cast<float>(sum);
  }
}

}  // namespace trireme::kernels::reference
