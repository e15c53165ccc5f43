// Names and small helpers that the SIMD operations share. Included once per instruction set.
#if defined(TRIREME_KERNELS_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_KERNELS_CPU_VECTOR_INL_H_
#undef TRIREME_KERNELS_CPU_VECTOR_INL_H_
#else
#define TRIREME_KERNELS_CPU_VECTOR_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
inline constexpr std::size_t kLanes = HWY_LANES(float);

HWY_INLINE FloatVector load_widened(const float* p) {
  return hn::LoadU(FloatTag(), p);
}
HWY_INLINE FloatVector load_widened(const hwy::float16_t* p) {
  const hn::Rebind<hwy::float16_t, FloatTag> narrow;
  return hn::PromoteTo(FloatTag(), hn::LoadU(narrow, p));
}
HWY_INLINE FloatVector load_widened(const hwy::bfloat16_t* p) {
  const hn::Rebind<hwy::bfloat16_t, FloatTag> narrow;
  return hn::PromoteTo(FloatTag(), hn::LoadU(narrow, p));
}
HWY_INLINE FloatVector load_widened(const std::int8_t* p) {
  const hn::Rebind<std::int8_t, FloatTag> narrow;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(hn::RebindToSigned<FloatTag>(), hn::LoadU(narrow, p)));
}

// The first `count` <= kLanes floats, the rest zero; touches nothing else.
HWY_INLINE FloatVector load_first(const float* p, std::size_t count) {
  const FloatTag d;
  return count >= kLanes ? hn::LoadU(d, p) : hn::MaskedLoad(hn::FirstN(d, count), d, p);
}
HWY_INLINE void store_first(FloatVector v, float* p, std::size_t count) {
  const FloatTag d;
  if (count >= kLanes) {
    hn::StoreU(v, d, p);
  } else {
    hn::BlendedStore(v, hn::FirstN(d, count), d, p);
  }
}

// map(vector) for `size` floats from input to output, which may be the same; a lane must not depend on its neighbours.
template <typename Map>
HWY_INLINE void transform(const float* input, float* output, std::size_t size, const Map& map) {
  const FloatTag d;
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) hn::StoreU(map(hn::LoadU(d, input + i)), d, output + i);
  if (i < size) store_first(map(load_first(input + i, size - i)), output + i, size - i);
}

// Highway's functions answer for every finite argument; not-a-number must stay what it is.
HWY_INLINE FloatVector keep_nan(FloatVector argument, FloatVector result) {
  return hn::IfThenElse(hn::IsNaN(argument), argument, result);
}

// e^x, error below 2 units in the last place; x is capped at 88, so that the result is finite for every number.
HWY_INLINE FloatVector exponential(FloatVector x) {
  const FloatTag d;
  return keep_nan(x, hn::Exp(d, hn::Min(x, hn::Set(d, 88.0f))));
}

HWY_INLINE FloatVector hyperbolic_tangent(FloatVector x) {
  const FloatTag d;
  const auto limit = hn::Set(d, 20.0f);  // tanh is 1 in float32 from 9.02 on
  return keep_nan(x, hn::Tanh(d, hn::Max(hn::Neg(limit), hn::Min(x, limit))));
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
