// output[r] += sum over c of weights[r, c] * input[places[r, c]]: a chain of float32 fused multiply-adds from 0, then
// one addition; error at most (num_chosen + 1) * 2^-24 * (|output| + sum |weight| |input|).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/combine_experts.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include <algorithm>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

void combine_rows(const CombineExpertsArgs& args, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const auto size = static_cast<std::size_t>(args.row_size);
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int32_t* places = args.places + r * args.num_chosen;
    const float* weights = args.weights + r * args.num_chosen;
    float* output = args.output + r * args.row_size;
    for (std::size_t i = 0; i < size; i += kLanes) {
      const std::size_t count = std::min(kLanes, size - i);
      FloatVector sum = hn::Zero(d);
      for (std::int64_t c = 0; c < args.num_chosen; ++c) {
        const FloatVector part = load_first(args.input + places[c] * args.row_size + i, count);
        sum = hn::MulAdd(hn::Set(d, weights[c]), part, sum);
      }
      store_first(hn::Add(load_first(output + i, count), sum), output + i, count);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void combine_experts(Context& context, const CombineExpertsArgs& args) {
  const auto run = choose(context, N_AVX2::combine_rows, N_AVX3::combine_rows);
  parallel_ranges(context.pool, args.num_rows, args.num_chosen * args.row_size,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
