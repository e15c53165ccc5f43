// Rotary embedding in float32: x_i' = x_i cos - x_j sin, x_j' = x_j cos + x_i sin with j = i + rotary_dim / 2; one
// rounding of a product and one of a fused multiply-add each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rope.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include <cmath>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

void rotate_head(float* low, float* high, const float* table, std::size_t half) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    FloatVector cosine, sine;
    hn::LoadInterleaved2(d, table + 2 * i, cosine, sine);
    const FloatVector a = hn::LoadU(d, low + i);
    const FloatVector b = hn::LoadU(d, high + i);
    hn::StoreU(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), d, low + i);
    hn::StoreU(hn::MulAdd(a, sine, hn::Mul(b, cosine)), d, high + i);
  }
  for (; i < half; ++i) {
    const float cosine = table[2 * i], sine = table[2 * i + 1];
    const float a = low[i], b = high[i];
    low[i] = std::fma(-b, sine, a * cosine);
    high[i] = std::fma(a, sine, b * cosine);
  }
}

void rotate_rows(const RopeArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t half = args.rotary_dim / 2;
  for (std::int64_t r = begin; r < end; ++r) {
    for (std::int64_t h = 0; h < args.num_heads; ++h) {
      float* head = args.values + r * args.values_stride + h * args.head_dim;
      rotate_head(head, head + half, args.table + r * args.rotary_dim, static_cast<std::size_t>(half));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void rope(Context& context, const RopeArgs& args) {
  const auto run = choose(context, N_AVX2::rotate_rows, N_AVX3::rotate_rows);
  parallel_ranges(context.pool, args.num_rows, args.num_heads * args.rotary_dim,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
