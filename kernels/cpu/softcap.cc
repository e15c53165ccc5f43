// values = cap * tanh(values / cap), in float32; error some units in the last place.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/softcap.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

struct Cap {
  float cap;
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    const FloatVector limit = hn::Set(FloatTag(), cap);
    return hn::Mul(limit, hyperbolic_tangent(hn::Div(x, limit)));
  }
};

void cap_range(const SoftcapArgs& args, std::int64_t begin, std::int64_t end) {
  transform(args.values + begin, args.values + begin, static_cast<std::size_t>(end - begin), Cap{args.cap});
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void softcap(Context& context, const SoftcapArgs& args) {
  const auto run = choose(context, N_AVX2::cap_range, N_AVX3::cap_range);
  parallel_ranges(context.pool, args.size, 4, [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
