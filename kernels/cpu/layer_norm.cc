// output = (input - mean) / sqrt(variance + epsilon) * weight + bias, in two passes: the mean first, then the squares
// of what deviates from it, so that nothing cancels. Sums are float32 over four vectors of partial sums at fixed
// positions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/layer_norm.cc"
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

// Sum of term(vector, count) over a row; term must give zero in lanes from `count` on.
template <typename Term>
float sum_of(const float* x, std::size_t size, const Term& term) {
  const FloatTag d;
  FloatVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t v = 0;
  for (std::size_t i = 0; i < size; i += kLanes, v = (v + 1) % 4) {
    const std::size_t count = std::min(kLanes, size - i);
    sums[v] = hn::Add(sums[v], term(load_first(x + i, count), count));
  }
  const FloatVector sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void layer_norm_row(const LayerNormArgs& args, const float* input, float* output) {
  const FloatTag d;
  const auto size = static_cast<std::size_t>(args.row_size);
  const float mean = sum_of(input, size, [](FloatVector x, std::size_t) { return x; }) / static_cast<float>(size);
  const FloatVector centre = hn::Set(d, mean);
  const float squares = sum_of(input, size, [&](FloatVector x, std::size_t count) {
    const FloatVector deviation = hn::IfThenElseZero(hn::FirstN(d, count), hn::Sub(x, centre));
    return hn::Mul(deviation, deviation);
  });
  const FloatVector scale = hn::Set(d, 1.0f / std::sqrt(squares / static_cast<float>(size) + args.epsilon));
  for (std::size_t i = 0; i < size; i += kLanes) {
    const std::size_t count = std::min(kLanes, size - i);
    const FloatVector scaled = hn::Mul(hn::Sub(load_first(input + i, count), centre), scale);
    const FloatVector bias = args.bias != nullptr ? load_first(args.bias + i, count) : hn::Zero(d);
    store_first(hn::MulAdd(scaled, load_first(args.weight + i, count), bias), output + i, count);
  }
}

void layer_norm_rows(const LayerNormArgs& args, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    layer_norm_row(args, args.input + r * args.row_size, args.output + r * args.row_size);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void layer_norm(Context& context, const LayerNormArgs& args) {
  const auto run = choose(context, N_AVX2::layer_norm_rows, N_AVX3::layer_norm_rows);
  parallel_ranges(context.pool, args.num_rows, 2 * args.row_size,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
