// output = input / sqrt(mean(input²) + epsilon) * weight; the sum of squares in float32, over four vectors of partial
// sums at fixed positions (relative error about group_size / (4 * lanes) * 2^-24).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rms_norm.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

float sum_of_squares(const float* x, std::size_t size) {
  const FloatTag d;
  FloatVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    for (std::size_t v = 0; v < 4; ++v) {
      const FloatVector part = hn::LoadU(d, x + i + v * kLanes);
      sums[v] = hn::MulAdd(part, part, sums[v]);
    }
  }
  for (std::size_t v = 0; i < size; i += kLanes, ++v) {
    const FloatVector part = load_first(x + i, std::min(kLanes, size - i));
    sums[v] = hn::MulAdd(part, part, sums[v]);
  }
  const FloatVector sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void norm_group(const RmsNormArgs& args, const float* input, float* output) {
  const FloatTag d;
  const auto size = static_cast<std::size_t>(args.group_size);
  const float mean = sum_of_squares(input, size) / static_cast<float>(size);
  const FloatVector scale = hn::Set(d, 1.0f / std::sqrt(mean + args.epsilon));
  for (std::size_t i = 0; i < size; i += kLanes) {
    const std::size_t count = std::min(kLanes, size - i);
    const FloatVector scaled = hn::Mul(load_first(input + i, count), scale);
    store_first(hn::Mul(scaled, load_first(args.weight + i, count)), output + i, count);
  }
}

void norm_rows(const RmsNormArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    for (std::int64_t g = 0; g < args.num_groups; ++g) {
      norm_group(args, args.input + r * args.input_stride + g * args.group_size,
                 args.output + r * args.output_stride + g * args.group_size);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void rms_norm(Context& context, const RmsNormArgs& args) {
  const auto run = choose(context, N_AVX2::norm_rows, N_AVX3::norm_rows);
  parallel_ranges(context.pool, args.num_rows, args.num_groups * args.group_size,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
