#include "kernels/quantise_weights.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/dtype.h"
#include "kernels/quantised_rows.h"

namespace trireme::kernels {
namespace {

// round(value * inverse) in the format's range.
std::int8_t round_to(float value, float inverse, WeightFormat format) {
  constexpr float kNoFraction = 0x1.8p23f;  // a sum with this is rounded to a whole number, half to even
  const QuantRange range = quant_range(format);
  const float clamped = std::clamp(value * inverse, static_cast<float>(range.low), static_cast<float>(range.high));
  return static_cast<std::int8_t>(clamped + kNoFraction - kNoFraction);
}

// The scale as it is stored, and what to multiply with to divide by it.
struct Scale {
  std::uint16_t bits;
  float inverse;
};
Scale half_scale(float exact) {
  const std::uint16_t bits = base::f32_to_f16(exact);
  const float stored = base::f16_to_f32(bits);
  return {bits, stored == 0.0f ? 0.0f : 1.0f / stored};
}

using Group = std::array<float, kGroupSize>;

void quantise_group(WeightFormat format, const Group& group, GroupedRowBuffer& buffer) {
  const auto [low, high] = std::minmax_element(group.begin(), group.end());
  const float extreme = std::fabs(*low) > std::fabs(*high) ? *low : *high;
  float minimum = 0.0f, exact_scale = std::fabs(extreme) / kMaxQuant;
  if (format == WeightFormat::kQ4_0) exact_scale = extreme / -8.0f;
  if (format == WeightFormat::kQ4_1) {
    exact_scale = (*high - *low) / 15.0f;
    buffer.minimums.push_back(base::f32_to_f16(*low));
    minimum = base::f16_to_f32(buffer.minimums.back());
  }
  const Scale scale = half_scale(exact_scale);
  buffer.scales.push_back(scale.bits);
  for (const float w : group) buffer.quants.push_back(round_to(w - minimum, scale.inverse, format));
}

}  // namespace

ChannelRow quantise_channel(std::span<const float> row) {
  float largest = 0.0f;
  for (const float w : row) largest = std::max(largest, std::fabs(w));
  ChannelRow result;
  result.scale = largest / kMaxQuant;
  const float inverse = result.scale == 0.0f ? 0.0f : 1.0f / result.scale;
  result.quants.reserve(row.size());
  for (const float w : row) result.quants.push_back(round_to(w, inverse, WeightFormat::kInt8));
  return result;
}

void quantise_groups(WeightFormat format, std::span<const float> row, GroupedRowBuffer& buffer) {
  TRIREME_CHECK(has_groups(format)) << to_string(format);
  buffer.scales.clear();
  buffer.minimums.clear();
  buffer.quants.clear();
  for (std::size_t begin = 0; begin < row.size(); begin += kGroupSize) {
    Group group{};
    const std::size_t count = std::min<std::size_t>(kGroupSize, row.size() - begin);
    std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(begin), count, group.begin());
    quantise_group(format, group, buffer);
  }
}

}  // namespace trireme::kernels
