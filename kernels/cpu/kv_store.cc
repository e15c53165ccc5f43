// Rounds keys and values to the cache's formats (kv_layer_view.h). Bits are those of the reference: every step is one
// correctly rounded operation.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/kv_store.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/vector-inl.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/cpu/kv_address.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

// One token's head in a chunk.
template <typename Element>
class KvOutput {
 public:
  explicit KvOutput(const KvAddress& address)
      : elements_(reinterpret_cast<Element*>(address.elements)), stride_(static_cast<std::size_t>(address.stride)) {}
  void set(std::size_t i, Element value) const { elements_[i * stride_] = value; }

 private:
  Element* elements_;
  std::size_t stride_;
};

// The greatest magnitude, compared as integers so that infinity and not-a-number win.
float greatest_magnitude(const float* input, std::size_t size) {
  const hn::RebindToUnsigned<FloatTag> du;
  auto greatest = hn::Zero(du);
  for (std::size_t i = 0; i < size; i += kLanes) {
    const FloatVector x = load_first(input + i, std::min(kLanes, size - i));
    greatest = hn::Max(greatest, hn::BitCast(du, hn::Abs(x)));
  }
  return std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(du, greatest)));
}

void store_int8(const float* input, std::size_t size, const KvAddress& address) {
  const FloatTag d;
  const KvOutput<std::int8_t> output(address);
  const float greatest = greatest_magnitude(input, size);
  const bool finite = greatest <= std::numeric_limits<float>::max();
  *address.scale = finite ? greatest / 127.0f : std::numeric_limits<float>::quiet_NaN();
  if (!finite || *address.scale == 0) {
    for (std::size_t i = 0; i < size; ++i) output.set(i, 0);
    return;
  }
  const FloatVector scale = hn::Set(d, *address.scale);
  const FloatVector limit = hn::Set(d, 127.0f);
  for (std::size_t i = 0; i < size; i += kLanes) {
    const std::size_t count = std::min(kLanes, size - i);
    const FloatVector quotient = hn::Div(load_first(input + i, count), scale);
    HWY_ALIGN std::int32_t lanes[kLanes];
    hn::Store(hn::NearestInt(hn::Max(hn::Neg(limit), hn::Min(quotient, limit))), hn::RebindToSigned<FloatTag>(), lanes);
    for (std::size_t j = 0; j < count; ++j) output.set(i + j, static_cast<std::int8_t>(lanes[j]));
  }
}

void store_f16(const float* input, std::size_t size, const KvAddress& address) {
  const KvOutput<std::uint16_t> output(address);
  const hn::Rebind<hwy::float16_t, FloatTag> narrow;
  for (std::size_t i = 0; i < size; i += kLanes) {
    const std::size_t count = std::min(kLanes, size - i);
    HWY_ALIGN hwy::float16_t lanes[kLanes];
    hn::Store(hn::DemoteTo(narrow, load_first(input + i, count)), narrow, lanes);
    for (std::size_t j = 0; j < count; ++j) output.set(i + j, lanes[j].bits);
  }
}

void store_f32(const float* input, std::size_t size, const KvAddress& address) {
  const KvOutput<float> output(address);
  for (std::size_t i = 0; i < size; ++i) output.set(i, input[i]);
}

void store_head(const float* input, const KvAddress& address, base::DType type, std::int64_t head_dim) {
  const auto size = static_cast<std::size_t>(head_dim);
  switch (type) {
    case base::DType::kF32: store_f32(input, size, address); break;
    case base::DType::kF16: store_f16(input, size, address); break;
    default: store_int8(input, size, address); break;
  }
}

void store_rows(const KvStoreArgs& args, std::int64_t begin, std::int64_t end) {
  const KvChunkLayout& layout = args.cache.layout;
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t block = args.slots[r] / layout.block_tokens;
    const std::int64_t token = args.slots[r] % layout.block_tokens;
    for (std::int64_t h = 0; h < args.cache.num_kv_heads; ++h) {
      std::byte* chunk = args.cache.chunk(block, h);
      const std::int64_t input = r * args.input_stride + h * layout.head_dim;
      store_head(args.keys + input, key_address(layout, chunk, token), layout.key_type, layout.head_dim);
      store_head(args.values + input, value_address(layout, chunk, token), layout.value_type, layout.head_dim);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void kv_store(Context& context, const KvStoreArgs& args) {
  const auto run = choose(context, N_AVX2::store_rows, N_AVX3::store_rows);
  parallel_ranges(context.pool, args.num_rows, 2 * args.cache.num_kv_heads * args.cache.layout.head_dim,
                  [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
}

}  // namespace trireme::kernels::cpu
#endif
