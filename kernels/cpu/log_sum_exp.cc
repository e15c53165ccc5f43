// output = log(sum e^(x - max)) + max. Terms in float32, summed in four vectors of partial sums at fixed positions;
// relative error of the sum about row_size / (4 * lanes) * 2^-24.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/log_sum_exp.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Not-a-number may be lost here; the sum of exponentials finds it again.
float maximum_of(const float* row, std::size_t size) {
  const FloatTag d;
  FloatVector maximum = hn::Set(d, kMinusInfinity);
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) maximum = hn::Max(hn::LoadU(d, row + i), maximum);
  float result = hn::GetLane(hn::MaxOfLanes(d, maximum));
  for (; i < size; ++i) result = std::max(result, row[i]);
  return result;
}

float sum_of_exponentials(const float* row, std::size_t size, float shift) {
  const FloatTag d;
  const FloatVector shifts = hn::Set(d, shift);
  FloatVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (std::size_t v = 0; i + kLanes <= size; i += kLanes, v = (v + 1) % 4) {
    sums[v] = hn::Add(sums[v], exponential(hn::Sub(hn::LoadU(d, row + i), shifts)));
  }
  if (i < size) {
    const FloatVector last = exponential(hn::Sub(load_first(row + i, size - i), shifts));
    sums[0] = hn::Add(sums[0], hn::IfThenElseZero(hn::FirstN(d, size - i), last));
  }
  const FloatVector sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void reduce_rows(const LogSumExpArgs& args, std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::size_t>(args.row_size);
  for (std::int64_t r = begin; r < end; ++r) {
    const float* row = args.input + r * args.row_size;
    const float maximum = maximum_of(row, size);
    if (maximum == std::numeric_limits<float>::infinity()) {
      args.output[r] = maximum;
      continue;
    }
    const float shift = maximum == kMinusInfinity ? 0.0f : maximum;
    args.output[r] = std::log(sum_of_exponentials(row, size, shift)) + shift;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void log_sum_exp(Context& context, const LogSumExpArgs& args) {
  const auto run = choose(context, N_AVX2::reduce_rows, N_AVX3::reduce_rows);
  parallel_ranges(context.pool, args.num_rows, args.row_size,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
