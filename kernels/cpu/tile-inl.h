// The register tile that Linear and attention share: C[rows, columns] (+)= A[rows, depth] * B[depth, columns].
// Included once per instruction set.
//
// A lane is one output, and its sum is one chain of fused multiply-adds over depth in ascending order. So its bits
// depend on neither the number of rows nor the vector length, and a sum may be cut at any depth (Start::kFromC goes on
// with it).
#if defined(TRIREME_KERNELS_CPU_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_KERNELS_CPU_TILE_INL_H_
#undef TRIREME_KERNELS_CPU_TILE_INL_H_
#else
#define TRIREME_KERNELS_CPU_TILE_INL_H_
#endif

#include <array>
#include <utility>

#include "hwy/cache_control.h"
#include "kernels/cpu/tile.h"
#include "kernels/cpu/vector-inl.h"
#include "kernels/packed_matrix.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

// A tile is two vectors wide and so high that its sums, two vectors of B and one of A stay in registers.
inline constexpr std::size_t kTileColumns = 2 * kLanes;
inline constexpr std::size_t kMaxTileRows = HWY_CAP_GE512 ? 12 : 6;
// Few rows need tiles of four vectors for enough independent chains to hide the latency of the multiply-add.
inline constexpr std::size_t kMaxWideTileRows = HWY_CAP_GE512 ? 6 : 2;
// Rows up to which narrow weights are widened in registers, four vectors wide in AVX2.
inline constexpr std::size_t kMaxFewRows = HWY_CAP_GE512 ? 12 : 4;

// In rows of a panel of two-byte weights, one cache line each: 2 KiB ahead.
inline constexpr std::size_t kPrefetchDistance = 32;

template <std::size_t kRows, std::size_t kVectors, typename Element>
void multiply_tile(const TileOperands<Element>& t) {
  const FloatTag d;
  FloatVector sums[kRows][kVectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = t.start == Start::kFromC ? hn::LoadU(d, t.c + r * t.c_stride + v * kLanes) : hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT a = t.a;
  const Element* HWY_RESTRICT b = t.b;
  const Element* next = t.next;
  for (std::size_t k = 0; k < t.depth; ++k, b += t.b_stride) {
    // Narrow elements come straight from memory, and the hardware's prefetch stops at page borders.
    if constexpr (sizeof(Element) < sizeof(float)) {
      if (next != nullptr) {
        constexpr std::size_t kPerLine = 64 / sizeof(Element);
        for (std::size_t i = 0; i < t.b_stride; i += kPerLine) __builtin_prefetch(next + i, 0, 2);
        next += t.b_stride;
      } else {
        hwy::Prefetch(b + kPrefetchDistance * kPanelWidth);
      }
    }
    FloatVector weights[kVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) weights[v] = load_widened(b + v * kLanes);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const FloatVector x = hn::Set(d, a[r * t.a_stride + k]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, weights[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, t.c + r * t.c_stride + v * kLanes);
  }
}

// multiply_tile for a number of rows known at run time, at most kMaxRows.
template <std::size_t kMaxRows, std::size_t kVectors, typename Element>
void multiply_tile(std::size_t rows, const TileOperands<Element>& t) {
  using Function = void(const TileOperands<Element>&);
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Function*, kMaxRows>{&multiply_tile<I + 1, kVectors, Element>...};
  }
  (std::make_index_sequence<kMaxRows>());
  kTable[rows - 1](t);
}

// Any number of rows; `columns` is a multiple of kTileColumns.
HWY_INLINE void multiply_rows(std::size_t rows, std::size_t columns, const TileOperands<float>& operands) {
  if (rows <= kMaxWideTileRows && columns % (4 * kLanes) == 0) {
    TileOperands<float> tile = operands;
    for (std::size_t column = 0; column < columns; column += 4 * kLanes, tile.b += 4 * kLanes, tile.c += 4 * kLanes) {
      multiply_tile<kMaxWideTileRows, 4>(rows, tile);
    }
    return;
  }
  const std::size_t num_tiles = (rows + kMaxTileRows - 1) / kMaxTileRows;
  for (std::size_t column = 0; column < columns; column += kTileColumns) {
    TileOperands<float> tile = operands;
    tile.b += column;
    tile.c += column;
    for (std::size_t i = 0; i < num_tiles; ++i) {
      const std::size_t height = rows / num_tiles + (i < rows % num_tiles ? 1 : 0);
      multiply_tile<kMaxTileRows, 2>(height, tile);
      tile.a += height * tile.a_stride;
      tile.c += height * tile.c_stride;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#endif
