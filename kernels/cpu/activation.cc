// activation(gate) * up in float32. silu(x) = x / (1 + e^-x); gelu_tanh(x) = x / (1 + e^-2u), u = sqrt(2/π)(x +
// 0.044715 x³), which is 0.5 x (1 + tanh u). Error some units in the last place of the result.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cc"
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

struct Silu {
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    return hn::Div(x, hn::Add(hn::Set(FloatTag(), 1.0f), exponential(hn::Neg(x))));
  }
};

struct GeluTanh {
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    const FloatTag d;
    const FloatVector cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), hn::Set(d, 0.044715f), x);
    const FloatVector exponent = hn::Mul(cubic, hn::Set(d, -1.5957691216057308f));  // -2 sqrt(2/π)
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), exponential(exponent)));
  }
};

// Highway has no erf.
struct GeluErf {
  HWY_INLINE FloatVector operator()(FloatVector x) const {
    const FloatTag d;
    HWY_ALIGN float lanes[kLanes];
    hn::Store(x, d, lanes);
    for (float& lane : lanes) lane = 0.5f * lane * (1.0f + std::erf(lane * 0.70710678118654752f));
    return hn::Load(d, lanes);
  }
};

struct Relu {
  HWY_INLINE FloatVector operator()(FloatVector x) const { return keep_nan(x, hn::Max(x, hn::Zero(FloatTag()))); }
};

template <typename Function>
void activate_rows(const ActivationArgs& args, std::int64_t begin, std::int64_t end, const Function& function) {
  const auto size = static_cast<std::size_t>(args.row_size);
  for (std::int64_t r = begin; r < end; ++r) {
    const float* gate = args.gate + r * args.input_stride;
    float* output = args.output + r * args.output_stride;
    if (args.up == nullptr) {
      transform(gate, output, size, function);
      continue;
    }
    const float* up = args.up + r * args.input_stride;
    for (std::size_t i = 0; i < size; i += kLanes) {
      const std::size_t count = std::min(kLanes, size - i);
      const FloatVector activated = function(load_first(gate + i, count));
      store_first(hn::Mul(activated, load_first(up + i, count)), output + i, count);
    }
  }
}

void activate(const ActivationArgs& args, std::int64_t begin, std::int64_t end) {
  switch (args.activation) {
    case Activation::kSilu: return activate_rows(args, begin, end, Silu());
    case Activation::kGeluTanh: return activate_rows(args, begin, end, GeluTanh());
    case Activation::kGeluErf: return activate_rows(args, begin, end, GeluErf());
    case Activation::kRelu: return activate_rows(args, begin, end, Relu());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void activation(Context& context, const ActivationArgs& args) {
  const auto run = choose(context, N_AVX2::activate, N_AVX3::activate);
  parallel_ranges(context.pool, args.num_rows, args.row_size,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
