// The register tile of Linear with quantised weights, written once for the instruction sets that multiply bytes in
// vectors. Included once by the source file of each of them, after its target pragma; everything is local to that file.
// `Isa` gives the vectors:
//     Int, Float       vectors of kLanes 32-bit numbers; a vector of bytes holds the quads of kLanes outputs
//     Bytes            weights ready to multiply: from load_signed(p), or low_nibbles(p) and high_nibbles(p)
//     Nibbles          sums of products of nibbles on the way to Int
//     dot, dot_nibbles sums += weights * quad of input; dot's sums are too large by kWeightOffset * sum of the input
#pragma once

#include <array>
#include <utility>

#include "kernels/cpu/quantised_task.h"

namespace trireme::kernels::cpu {
namespace {

inline constexpr std::size_t kQuadBytes = static_cast<std::size_t>(kPanelWidth * kQuadSize);
inline constexpr int kQuadsPerGroup = kGroupSize / kQuadSize;
// A few KiB ahead: weights of few rows come straight from memory, and the hardware's prefetch stops at page borders.
inline constexpr std::size_t kPrefetchBytes = 2048;
inline constexpr std::int64_t kMaxRowsToPrefetch = 8;

// What a tile reads and writes: kRows rows from `row` on, 2 * kLanes outputs from `lane` on, of one panel.
struct TileArgs {
  const QuantisedRows& rows;
  const PackedMatrixShape& shape;
  const std::byte* panel;
  const PanelOutput& out;
  std::int64_t row;
  std::int64_t lane;
};

template <typename Isa>
inline __attribute__((always_inline)) void finish_row(const TileArgs& t, std::int64_t row, std::int64_t lane,
                                                      typename Isa::Float value) {
  const std::int64_t count = t.out.width - lane;
  if (count <= 0) return;
  float* output = t.out.output + row * t.out.stride + lane;
  if (t.out.bias != nullptr) value = Isa::add(value, Isa::load_first(t.out.bias + lane, count));
  if (t.out.mode == OutputMode::kAdd) value = Isa::add(Isa::load_first(output, count), value);
  Isa::store_first(output, value, count);
}

inline std::int32_t load_quad(const std::int8_t* values) {
  std::int32_t quad;
  __builtin_memcpy(&quad, values, sizeof quad);
  return quad;
}

template <typename Isa, int kRows>
void multiply_int8(const TileArgs& t) {
  typename Isa::Int sums[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = Isa::zero();
  const std::byte* weights = t.panel + t.shape.block().quants_offset + t.lane * kQuadSize;
  const std::int8_t* input = t.rows.values + t.row * t.rows.depth;
  for (std::int64_t k = 0; k < t.rows.depth; k += kQuadSize, weights += kQuadBytes) {
    if constexpr (kRows <= kMaxRowsToPrefetch) __builtin_prefetch(weights + kPrefetchBytes);
    if constexpr (kRows <= kMaxRowsToPrefetch && Isa::kLanes == 16) __builtin_prefetch(weights + kPrefetchBytes + 64);
    const auto first = Isa::load_signed(weights), second = Isa::load_signed(weights + Isa::kLanes * kQuadSize);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto x = Isa::broadcast(load_quad(input + r * t.rows.depth + k));
      sums[r][0] = Isa::dot(sums[r][0], first, x);
      sums[r][1] = Isa::dot(sums[r][1], second, x);
    }
  }
  const auto* scales = reinterpret_cast<const float*>(t.panel) + t.lane;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const auto excess = Isa::broadcast(Isa::kWeightOffset * t.rows.sums[t.row + r]);
    const auto scale = Isa::broadcast(t.rows.scales[t.row + r]);
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const auto product = Isa::mul(scale, Isa::load(scales + v * Isa::kLanes));
      const auto value = Isa::mul(Isa::to_float(Isa::sub(sums[r][v], excess)), product);
      finish_row<Isa>(t, t.row + r, t.lane + v * Isa::kLanes, value);
    }
  }
}

// The whole-number sums of one group of 8-bit weights.
template <typename Isa, int kRows>
inline __attribute__((always_inline)) void sum_bytes(const std::byte* weights, const std::int8_t* input,
                                                     std::int64_t stride, typename Isa::Int (&sums)[kRows][2]) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = Isa::zero();
#pragma GCC unroll 8
  for (int q = 0; q < kQuadsPerGroup; ++q) {
    const std::byte* quad = weights + q * kQuadBytes;
    const auto first = Isa::load_signed(quad), second = Isa::load_signed(quad + Isa::kLanes * kQuadSize);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto x = Isa::broadcast(load_quad(input + r * stride + q * kQuadSize));
      sums[r][0] = Isa::dot(sums[r][0], first, x);
      sums[r][1] = Isa::dot(sums[r][1], second, x);
    }
  }
}

// Likewise of 4-bit weights, not yet less their zero point.
template <typename Isa, int kRows>
inline __attribute__((always_inline)) void sum_nibbles(const std::byte* weights, const std::int8_t* input,
                                                       std::int64_t stride, typename Isa::Int (&sums)[kRows][2]) {
  typename Isa::Nibbles parts[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) parts[r][0] = parts[r][1] = Isa::zero();
#pragma GCC unroll 4
  for (int q = 0; q < kQuadsPerGroup / 2; ++q) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const std::byte* quad = weights + q * kQuadBytes + v * Isa::kLanes * kQuadSize;
      const auto low = Isa::low_nibbles(quad), high = Isa::high_nibbles(quad);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const std::int8_t* x = input + r * stride + q * kQuadSize;
        parts[r][v] = Isa::dot_nibbles(parts[r][v], low, Isa::broadcast(load_quad(x)));
        parts[r][v] = Isa::dot_nibbles(parts[r][v], high, Isa::broadcast(load_quad(x + kGroupSize / 2)));
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) sums[r][v] = Isa::sum_nibbles(parts[r][v]);
  }
}

template <typename Isa, WeightFormat kFormat, int kRows>
void multiply_groups(const TileArgs& t) {
  typename Isa::Float totals[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) totals[r][0] = totals[r][1] = Isa::to_float(Isa::zero());
  constexpr std::int32_t kOffset = has_four_bits(kFormat) ? zero_point(kFormat) : Isa::kWeightOffset;
  const std::int64_t num_groups = t.rows.num_blocks;
  constexpr BlockLayout kLayout = block_layout(kFormat, kGroupSize);
  const std::byte* block = t.panel;
  const std::int8_t* input = t.rows.values + t.row * t.rows.depth;
  for (std::int64_t g = 0; g < num_groups; ++g, block += kLayout.bytes, input += kGroupSize) {
    if constexpr (kRows <= kMaxRowsToPrefetch) {
#pragma GCC unroll 20
      for (std::size_t i = 0; i < kLayout.bytes; i += 64) __builtin_prefetch(block + kPrefetchBytes + i);
    }
    typename Isa::Int sums[kRows][2];
    const std::byte* quants = block + kLayout.quants_offset + t.lane * kQuadSize;
    if constexpr (has_four_bits(kFormat)) {
      sum_nibbles<Isa, kRows>(quants, input, t.rows.depth, sums);
    } else {
      sum_bytes<Isa, kRows>(quants, input, t.rows.depth, sums);
    }
    const auto* halves = reinterpret_cast<const std::uint16_t*>(block) + t.lane;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t index = g * t.rows.stride + t.row + r;
      const auto scale = Isa::broadcast(t.rows.scales[index]);
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        auto sum = sums[r][v];
        if constexpr (kOffset != 0) sum = Isa::sub(sum, Isa::broadcast(kOffset * t.rows.sums[index]));
        const auto product = Isa::mul(scale, Isa::load_half(halves + v * Isa::kLanes));
        totals[r][v] = Isa::fma(Isa::to_float(sum), product, totals[r][v]);
        if constexpr (kFormat == WeightFormat::kQ4_1) {
          const auto minimum = Isa::load_half(halves + kPanelWidth + v * Isa::kLanes);
          totals[r][v] = Isa::fma(Isa::broadcast(t.rows.scaled_sums[index]), minimum, totals[r][v]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) finish_row<Isa>(t, t.row + r, t.lane + v * Isa::kLanes, totals[r][v]);
  }
}

template <typename Isa, WeightFormat kFormat, int kRows>
void multiply_tile(const TileArgs& t) {
  if constexpr (kFormat == WeightFormat::kInt8) {
    multiply_int8<Isa, kRows>(t);
  } else {
    multiply_groups<Isa, kFormat, kRows>(t);
  }
}

// All rows of a task in tiles of at most kMaxRows, and of nearly equal height.
template <typename Isa, WeightFormat kFormat, int kMaxRows>
void run_panels(const QuantisedTask& task) {
  static constexpr auto kTiles = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<void (*)(const TileArgs&), kMaxRows>{&multiply_tile<Isa, kFormat, static_cast<int>(I) + 1>...};
  }
  (std::make_index_sequence<kMaxRows>());
  const PackedMatrixShape& shape = task.args.weights.shape;
  const std::int64_t num_rows = task.row_end - task.row_begin;
  const std::int64_t num_tiles = (num_rows + kMaxRows - 1) / kMaxRows;
  for (std::int64_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
    const PanelOutput out(task.args, panel);
    for (std::int64_t lane = 0; lane < kPanelWidth; lane += 2 * Isa::kLanes) {
      for (std::int64_t i = 0; i < num_tiles; ++i) {
        const std::int64_t begin = i * num_rows / num_tiles, end = (i + 1) * num_rows / num_tiles;
        kTiles[static_cast<std::size_t>(end - begin - 1)](
            {task.rows, shape, task.args.weights.panel(panel), out, task.row_begin + begin, lane});
      }
    }
  }
}

template <typename Isa>
void run_quantised_task(const QuantisedTask& task) {
  switch (task.args.weights.shape.format) {
    case WeightFormat::kQ8_0: return run_panels<Isa, WeightFormat::kQ8_0, Isa::kMaxGroupRows>(task);
    case WeightFormat::kQ4_0: return run_panels<Isa, WeightFormat::kQ4_0, Isa::kMaxGroupRows>(task);
    case WeightFormat::kQ4_1: return run_panels<Isa, WeightFormat::kQ4_1, Isa::kMaxGroupRows>(task);
    default: return run_panels<Isa, WeightFormat::kInt8, Isa::kMaxInt8Rows>(task);
  }
}

}  // namespace
}  // namespace trireme::kernels::cpu
