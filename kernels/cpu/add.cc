// output += input.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/add.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

void add_range(const AddArgs& args, std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::size_t>(end);
  for (auto i = static_cast<std::size_t>(begin); i < size; i += kLanes) {
    const std::size_t count = HWY_MIN(kLanes, size - i);
    store_first(hn::Add(load_first(args.output + i, count), load_first(args.input + i, count)), args.output + i, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void add(Context& context, const AddArgs& args) {
  const auto run = choose(context, N_AVX2::add_range, N_AVX3::add_range);
  parallel_ranges(context.pool, args.size, 1, [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
