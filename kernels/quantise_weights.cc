#include "kernels/quantise_weights.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/dtype.h"
#include "kernels/quantised_rows.h"

namespace trireme::kernels {
namespace {

// Ranges that 4 bits are tried over: shrunk by 0, 4, … 20 %.
constexpr int kNumShrinks = 6;
constexpr float kShrinkStep = 0.04f;

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

struct QuantisedGroup {
  Scale scale;
  std::uint16_t minimum = 0;
  std::array<std::int8_t, kGroupSize> quants;
  float squared_error = 0.0f;
};

QuantisedGroup round_group(WeightFormat format, const Group& group, float exact_scale, float exact_minimum) {
  QuantisedGroup result;
  result.scale = half_scale(exact_scale);
  result.minimum = base::f32_to_f16(exact_minimum);
  const float scale = base::f16_to_f32(result.scale.bits), minimum = base::f16_to_f32(result.minimum);
  for (std::size_t i = 0; i < group.size(); ++i) {
    result.quants[i] = round_to(group[i] - minimum, result.scale.inverse, format);
    const float error = scale * static_cast<float>(result.quants[i]) + minimum - group[i];
    result.squared_error += error * error;
  }
  return result;
}

QuantisedGroup quantise_group(WeightFormat format, const Group& group) {
  const auto ends = std::minmax_element(group.begin(), group.end());
  const float low = *ends.first, high = *ends.second;
  const float extreme = std::fabs(low) > std::fabs(high) ? low : high;
  if (format == WeightFormat::kQ8_0) return round_group(format, group, std::fabs(extreme) / kMaxQuant, 0.0f);
  const float range = high - low;
  const auto shrunk_by = [&](float share) {
    const float kept = 1.0f - share;
    if (format == WeightFormat::kQ4_0) return round_group(format, group, kept * extreme / -8.0f, 0.0f);
    return round_group(format, group, kept * range / 15.0f, low + share / 2.0f * range);
  };
  QuantisedGroup best = shrunk_by(0.0f);
  for (int step = 1; step < kNumShrinks; ++step) {
    const QuantisedGroup candidate = shrunk_by(static_cast<float>(step) * kShrinkStep);
    if (candidate.squared_error < best.squared_error) best = candidate;
  }
  return best;
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
    const QuantisedGroup quantised = quantise_group(format, group);
    buffer.scales.push_back(quantised.scale.bits);
    if (format == WeightFormat::kQ4_1) buffer.minimums.push_back(quantised.minimum);
    buffer.quants.insert(buffer.quants.end(), quantised.quants.begin(), quantised.quants.end());
  }
}

}  // namespace trireme::kernels
