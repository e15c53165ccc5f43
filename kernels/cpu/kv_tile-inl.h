// Products with keys and values as they lie in the cache, widened in registers. Included once per instruction set.
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
#include "kernels/cpu/tile-inl.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

// How many vectors wide a tile of so many rows is at most, for its sums and operands to stay in registers: five of 16
// floats are a block of 80 tokens.
constexpr std::size_t max_tile_vectors(std::size_t rows) {
  if (HWY_CAP_GE512) return rows <= 4 ? 5 : rows <= 6 ? 4 : 2;
  return rows == 1 ? 5 : rows == 2 ? 4 : rows == 3 ? 3 : 2;
}

template <std::size_t kRows, typename Element>
void multiply_vectors(std::size_t vectors, const TileOperands<Element>& operands) {
  constexpr std::size_t kMost = max_tile_vectors(kRows);
  using Function = void(const TileOperands<Element>&);
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Function*, kMost>{&multiply_tile<kRows, I + 1, Element>...};
  }
  (std::make_index_sequence<kMost>());
  TileOperands<Element> tile = operands;
  const std::size_t num_tiles = (vectors + kMost - 1) / kMost;
  for (std::size_t i = 0; i < num_tiles; ++i) {
    const std::size_t width = vectors / num_tiles + (i < vectors % num_tiles ? 1 : 0);
    kTable[width - 1](tile);
    tile.b += width * kLanes;
    tile.c += width * kLanes;
    tile.next = nullptr;  // the first tile has fetched it
  }
}

// C[rows, vectors * kLanes] (+)= A[rows, depth] * B[depth, vectors * kLanes], the same bits as multiply_rows on a
// widened B.
template <typename Element>
void multiply_narrow(std::size_t rows, std::size_t vectors, const TileOperands<Element>& operands) {
  using Function = void(std::size_t, const TileOperands<Element>&);
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Function*, kMaxTileRows>{&multiply_vectors<I + 1, Element>...};
  }
  (std::make_index_sequence<kMaxTileRows>());
  TileOperands<Element> tile = operands;
  const std::size_t num_tiles = (rows + kMaxTileRows - 1) / kMaxTileRows;
  for (std::size_t i = 0; i < num_tiles; ++i) {
    const std::size_t height = rows / num_tiles + (i < rows % num_tiles ? 1 : 0);
    kTable[height - 1](vectors, tile);
    tile.a += height * tile.a_stride;
    tile.c += height * tile.c_stride;
    tile.next = nullptr;
  }
}

// B of one piece of the cache, and of the one that is read after it (or nullptr).
struct CachedOperand {
  const std::byte* elements;
  const std::byte* next;
  base::DType type;
};

// The same with B in a format of the cache; o.b and o.next are not used.
HWY_INLINE void multiply_cached(std::size_t rows, std::size_t vectors, const CachedOperand& b,
                                const TileOperands<float>& o) {
  const auto multiply = [&]<typename Element>(const Element*) {
    multiply_narrow<Element>(rows, vectors,
                             {o.a, o.a_stride, reinterpret_cast<const Element*>(b.elements), o.b_stride, o.depth, o.c,
                              o.c_stride, o.start, reinterpret_cast<const Element*>(b.next)});
  };
  switch (b.type) {
    case base::DType::kF32: return multiply(static_cast<const float*>(nullptr));
    case base::DType::kF16: return multiply(static_cast<const hwy::float16_t*>(nullptr));
    default: return multiply(static_cast<const std::int8_t*>(nullptr));
  }
}

HWY_INLINE float widen_one(const float* p) {
  return *p;
}
HWY_INLINE float widen_one(const hwy::float16_t* p) {
  return base::f16_to_f32(p->bits);
}
HWY_INLINE float widen_one(const std::int8_t* p) {
  return static_cast<float>(*p);
}

// values[token * stride + i] = element i of the token, without its scale; columns from head_dim on are left alone.
template <typename Element>
void widen_rows(const Element* tokens, std::size_t count, std::size_t head_dim, std::size_t stride, float* values) {
  const FloatTag d;
  for (std::size_t t = 0; t < count; ++t, tokens += head_dim, values += stride) {
    std::size_t i = 0;
    for (; i + kLanes <= head_dim; i += kLanes) hn::Store(load_widened(tokens + i), d, values + i);
    for (; i < head_dim; ++i) values[i] = widen_one(tokens + i);
  }
}

inline void widen_values(const std::byte* tokens, std::int64_t count, const KvChunkLayout& layout, std::int64_t stride,
                         float* values) {
  const auto widen = [&](const auto* elements) {
    widen_rows(elements, static_cast<std::size_t>(count), static_cast<std::size_t>(layout.head_dim),
               static_cast<std::size_t>(stride), values);
  };
  switch (layout.value_type) {
    case base::DType::kF32: return widen(reinterpret_cast<const float*>(tokens));
    case base::DType::kF16: return widen(reinterpret_cast<const hwy::float16_t*>(tokens));
    default: return widen(reinterpret_cast<const std::int8_t*>(tokens));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
