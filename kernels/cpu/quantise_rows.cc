// quant = round(x * (127 / max|x|)) per row or group, half to even; whole-number sums beside them. The maximum is taken
// over the bits without their sign, which order as the magnitudes do, with infinities and not-a-numbers on top.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantise_rows.cc"
#include "hwy/foreach_target.h"
// clang-format: the line above comes first
#include "kernels/cpu/vector-inl.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/cpu/parallel_ranges.h"
#include "kernels/cpu/quantise_rows.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<FloatTag>;
using IntVector = hn::Vec<IntTag>;

constexpr std::int32_t kInfinityBits = 0x7F800000;

HWY_INLINE std::int32_t largest_magnitude_bits(const float* values, std::size_t size) {
  const IntTag d;
  const auto magnitude_mask = hn::Set(d, 0x7FFFFFFF);
  IntVector largest = hn::Zero(d);
  for (std::size_t i = 0; i < size; i += kLanes) {
    const auto bits = hn::BitCast(d, load_first(values + i, size - i));
    largest = hn::Max(largest, hn::And(bits, magnitude_mask));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// Rounds `size` values; returns the sum of the quants. |value * inverse| <= 127 needs no clamping.
HWY_INLINE std::int32_t round_values(const float* values, std::size_t size, float inverse, std::int8_t* quants) {
  const FloatTag d;
  const IntTag di;
  const hn::Rebind<std::int8_t, FloatTag> narrow;
  const auto factor = hn::Set(d, inverse);
  IntVector sum = hn::Zero(di);
  for (std::size_t i = 0; i < size; i += kLanes) {
    const auto whole = hn::NearestInt(hn::Mul(load_first(values + i, size - i), factor));
    sum = hn::Add(sum, whole);
    const auto bytes = hn::DemoteTo(narrow, whole);
    if (i + kLanes <= size) {
      hn::StoreU(bytes, narrow, quants + i);
    } else {
      std::int8_t last[kLanes];
      hn::StoreU(bytes, narrow, last);
      std::memcpy(quants + i, last, size - i);
    }
  }
  return hn::GetLane(hn::SumOfLanes(di, sum));
}

struct BlockResult {
  float scale;
  std::int32_t sum;
};

HWY_INLINE BlockResult quantise_block(const float* values, std::size_t size, std::int8_t* quants) {
  const std::int32_t bits = largest_magnitude_bits(values, size);
  const float largest = std::bit_cast<float>(bits);
  if (bits >= kInfinityBits || largest < kLeastQuantised) {
    std::memset(quants, 0, size);
    return {bits >= kInfinityBits ? std::numeric_limits<float>::quiet_NaN() : 0.0f, 0};
  }
  return {largest / kMaxQuant, round_values(values, size, kMaxQuant / largest, quants)};
}

void quantise_row(const float* input, std::int64_t in_features, std::int64_t row, const QuantisedRows& rows) {
  const std::int64_t block_size = rows.block_size();
  std::int8_t* quants = rows.values + row * rows.depth;
  std::memset(quants + in_features, 0, static_cast<std::size_t>(rows.depth - in_features));
  for (std::int64_t b = 0; b < rows.num_blocks; ++b) {
    const std::int64_t begin = b * block_size;
    const auto size = static_cast<std::size_t>(std::min(in_features - begin, block_size));
    const BlockResult block = quantise_block(input + begin, size, quants + begin);
    const std::int64_t index = b * rows.stride + row;
    rows.scales[index] = block.scale;
    rows.sums[index] = block.sum;
    rows.scaled_sums[index] = block.scale * static_cast<float>(block.sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void quantise_rows(Context& context, const LinearArgs& args, const QuantisedRows& rows) {
  const auto quantise = choose(context, N_AVX2::quantise_row, N_AVX3::quantise_row);
  const std::int64_t in_features = args.weights.shape.in_features;
  parallel_ranges(context.pool, args.num_rows, in_features, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) quantise(args.input + r * args.input_stride, in_features, r, rows);
  });
}

}  // namespace trireme::kernels::cpu
#endif
