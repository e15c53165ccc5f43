// Widens the keys or values of up to kKeyTile positions into float32 tiles. Included once per instruction set.
#if defined(TRIREME_KERNELS_CPU_KV_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_KERNELS_CPU_KV_TILE_INL_H_
#undef TRIREME_KERNELS_CPU_KV_TILE_INL_H_
#else
#define TRIREME_KERNELS_CPU_KV_TILE_INL_H_
#endif

#include <algorithm>

#include "base/dtype.h"
#include "kernels/cpu/attention_task.h"
#include "kernels/cpu/kv_address.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

// One element or vector of a token's head, widened exactly (int8: times the token's scale).
struct WidenF32 {
  using Element = float;
  static HWY_INLINE FloatVector load(const Element* p, float) { return load_widened(p); }
  static HWY_INLINE float load_one(const Element* p, float) { return *p; }
};
struct WidenF16 {
  using Element = hwy::float16_t;
  static HWY_INLINE FloatVector load(const Element* p, float) { return load_widened(p); }
  static HWY_INLINE float load_one(const Element* p, float) { return base::f16_to_f32(p->bits); }
};
struct WidenI8 {
  using Element = std::int8_t;
  static HWY_INLINE FloatVector load(const Element* p, float scale) {
    const FloatTag d;
    const hn::Rebind<std::int8_t, FloatTag> narrow;
    const hn::RebindToSigned<FloatTag> wide;
    return hn::Mul(hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, p))), hn::Set(d, scale));
  }
  static HWY_INLINE float load_one(const Element* p, float scale) { return static_cast<float>(*p) * scale; }
};

// Tokens of a tile, by position from the tile's begin; tokens outside the range to read point to zeros.
struct TileTokens {
  KvAddress tokens[kKeyTile];
};

// In-register transpose of kLanes vectors of kLanes elements.
HWY_INLINE void transpose(FloatVector (&rows)[kLanes]) {
  const FloatTag d;
  const hn::RepartitionToWide<FloatTag> wide;
  FloatVector t[kLanes];
  // 4x4 within each block of 128 bits.
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kLanes; i += 4) {
    const auto a = hn::BitCast(wide, hn::InterleaveLower(d, rows[i], rows[i + 1]));
    const auto b = hn::BitCast(wide, hn::InterleaveUpper(d, rows[i], rows[i + 1]));
    const auto c = hn::BitCast(wide, hn::InterleaveLower(d, rows[i + 2], rows[i + 3]));
    const auto e = hn::BitCast(wide, hn::InterleaveUpper(d, rows[i + 2], rows[i + 3]));
    t[i] = hn::BitCast(d, hn::InterleaveLower(wide, a, c));
    t[i + 1] = hn::BitCast(d, hn::InterleaveUpper(wide, a, c));
    t[i + 2] = hn::BitCast(d, hn::InterleaveLower(wide, b, e));
    t[i + 3] = hn::BitCast(d, hn::InterleaveUpper(wide, b, e));
  }
  // t[4 i + j] holds in block n the elements 4 n + j of rows 4 i … 4 i + 3. Now transpose the blocks.
#if HWY_CAP_GE512
#pragma GCC unroll 4
  for (std::size_t j = 0; j < 4; ++j) {
    const FloatVector a = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(t[4 + j]), t[j]);  // row groups 0, 1; blocks 0, 2
    const FloatVector b = hn::OddEvenBlocks(t[4 + j], hn::SwapAdjacentBlocks(t[j]));  // blocks 1, 3
    const FloatVector c = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(t[12 + j]), t[8 + j]);  // row groups 2, 3
    const FloatVector e = hn::OddEvenBlocks(t[12 + j], hn::SwapAdjacentBlocks(t[8 + j]));
    rows[j] = hn::ConcatLowerLower(d, c, a);
    rows[4 + j] = hn::ConcatLowerLower(d, e, b);
    rows[8 + j] = hn::ConcatUpperUpper(d, c, a);
    rows[12 + j] = hn::ConcatUpperUpper(d, e, b);
  }
#else
#pragma GCC unroll 4
  for (std::size_t j = 0; j < 4; ++j) {
    rows[j] = hn::ConcatLowerLower(d, t[4 + j], t[j]);
    rows[4 + j] = hn::ConcatUpperUpper(d, t[4 + j], t[j]);
  }
#endif
}

// keys[i * kKeyTile + token] = element i of the token.
template <typename Widen>
void load_transposed(const TileTokens& tile, std::size_t head_dim, float* keys) {
  using Element = typename Widen::Element;
  const FloatTag d;
  for (std::size_t token = 0; token < kKeyTile; token += kLanes) {
    const KvAddress* tokens = tile.tokens + token;
    std::size_t i = 0;
    for (; i + kLanes <= head_dim; i += kLanes) {
      FloatVector rows[kLanes];
#pragma GCC unroll 16
      for (std::size_t t = 0; t < kLanes; ++t) {
        rows[t] = Widen::load(reinterpret_cast<const Element*>(tokens[t].elements) + i, *tokens[t].scale);
      }
      transpose(rows);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < kLanes; ++j) hn::Store(rows[j], d, keys + (i + j) * kKeyTile + token);
    }
    for (; i < head_dim; ++i) {
      for (std::size_t t = 0; t < kLanes; ++t) {
        const auto* elements = reinterpret_cast<const Element*>(tokens[t].elements);
        keys[i * kKeyTile + token + t] = Widen::load_one(elements + i, *tokens[t].scale);
      }
    }
  }
}

// values[token * stride + i] = element i of the token, for `count` tokens; columns from head_dim on are left alone.
template <typename Widen>
void load_rows(const KvAddress* tokens, std::size_t count, std::size_t head_dim, std::size_t stride, float* values) {
  using Element = typename Widen::Element;
  const FloatTag d;
  for (std::size_t t = 0; t < count; ++t, values += stride) {
    const auto* elements = reinterpret_cast<const Element*>(tokens[t].elements);
    std::size_t i = 0;
    for (; i + kLanes <= head_dim; i += kLanes) hn::Store(Widen::load(elements + i, *tokens[t].scale), d, values + i);
    for (; i < head_dim; ++i) values[i] = Widen::load_one(elements + i, *tokens[t].scale);
  }
}

inline void load_keys(const TileTokens& tile, base::DType type, std::int64_t head_dim, float* keys) {
  const auto size = static_cast<std::size_t>(head_dim);
  switch (type) {
    case base::DType::kF32: return load_transposed<WidenF32>(tile, size, keys);
    case base::DType::kF16: return load_transposed<WidenF16>(tile, size, keys);
    default: return load_transposed<WidenI8>(tile, size, keys);
  }
}

inline void load_values(const KvAddress* tokens, std::int64_t count, const KvChunkLayout& layout, std::int64_t stride,
                        float* values) {
  const auto size = static_cast<std::size_t>(layout.head_dim);
  const auto n = static_cast<std::size_t>(count);
  const auto padded = static_cast<std::size_t>(stride);
  switch (layout.value_type) {
    case base::DType::kF32: return load_rows<WidenF32>(tokens, n, size, padded, values);
    case base::DType::kF16: return load_rows<WidenF16>(tokens, n, size, padded, values);
    default: return load_rows<WidenI8>(tokens, n, size, padded, values);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
