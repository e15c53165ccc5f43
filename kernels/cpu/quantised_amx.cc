// AMX multiplies tiles of 16 rows by 16 outputs over 64 signed bytes of depth, exactly in 32 bits. Tiles 0 … 3 hold
// sums, 4 and 5 input, 6 and 7 weights: a panel's layout, quads of inputs side by side, is what the tiles want.
// - kInt8: 32 rows by a whole panel at a time, over the whole depth.
// - Groups: one tile per group, whose sums are then scaled and added up in vectors. 4-bit weights are unpacked to
// bytes,
//   once per panel and task.
// Too few rows to fill tiles are left to AVX-512 VNNI.
#include "kernels/cpu/quantised_task.h"

#include <algorithm>
#include <array>
#include <utility>

#include <immintrin.h>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c,amx-tile,amx-int8")
#include "kernels/cpu/quantised_tile-inl.h"
#include "kernels/cpu/vectors_512-inl.h"

namespace trireme::kernels::cpu {
namespace {

using Isa = Avx512Vnni;

constexpr std::int64_t kMinRows = 8;
constexpr std::int64_t kTileRows = 16;
constexpr std::int64_t kTileLanes = 16;
constexpr std::int64_t kTileDepth = kInt8DepthMultiple;
static_assert(QuantisedRows::kSlackRows >= kTileRows);

// The operand of LDTILECFG (Intel SDM volume 1, chapter 18.3).
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  void set(int tile, std::int64_t num_rows, std::int64_t bytes) {
    rows[tile] = static_cast<std::uint8_t>(num_rows);
    row_bytes[tile] = static_cast<std::uint16_t>(bytes);
  }
};
static_assert(sizeof(TileConfig) == 64);

// Configures the tiles as long as it lives.
class TileSession {
 public:
  TileSession(std::int64_t input_rows, std::int64_t depth) {
    TileConfig config;
    for (const int sums : {0, 1, 2, 3}) config.set(sums, input_rows, kTileLanes * 4);
    for (const int input : {4, 5}) config.set(input, input_rows, depth);
    for (const int weights : {6, 7}) config.set(weights, depth / kQuadSize, kTileLanes * kQuadSize);
    _tile_loadconfig(&config);
  }
  ~TileSession() { _tile_release(); }
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;
};

// How the rows of a task are cut into tiles of equal height; rows that the last one has too many are not used.
struct RowTiles {
  std::int64_t count, height;
  RowTiles(const QuantisedTask& task, std::int64_t multiple) {
    const std::int64_t num_rows = task.row_end - task.row_begin;
    count = (num_rows + kTileRows - 1) / kTileRows;
    height = ((num_rows + count - 1) / count + multiple - 1) / multiple * multiple;
  }
};

// Sums [2 * height, kPanelWidth] of two tiles of rows, or of one.
void multiply_two_tiles(const std::int8_t* input, std::int64_t depth, std::int64_t height, const std::byte* quants,
                        std::int32_t* sums) {
  constexpr std::int64_t kSumsStride = kPanelWidth * 4;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t k = 0; k < depth; k += kTileDepth, quants += kTileDepth * kPanelWidth) {
    _tile_loadd(4, input + k, depth);
    _tile_loadd(6, quants, kQuadBytes);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(7, quants + kTileLanes * kQuadSize, kQuadBytes);
    _tile_dpbssd(1, 4, 7);
    _tile_loadd(5, input + height * depth + k, depth);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_stored(0, sums, kSumsStride);
  _tile_stored(1, sums + kTileLanes, kSumsStride);
  _tile_stored(2, sums + height * kPanelWidth, kSumsStride);
  _tile_stored(3, sums + height * kPanelWidth + kTileLanes, kSumsStride);
}

void multiply_one_tile(const std::int8_t* input, std::int64_t depth, const std::byte* quants, std::int32_t* sums) {
  constexpr std::int64_t kSumsStride = kPanelWidth * 4;
  _tile_zero(0);
  _tile_zero(1);
  for (std::int64_t k = 0; k < depth; k += kTileDepth, quants += kTileDepth * kPanelWidth) {
    _tile_loadd(4, input + k, depth);
    _tile_loadd(6, quants, kQuadBytes);
    _tile_loadd(7, quants + kTileLanes * kQuadSize, kQuadBytes);
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
  }
  _tile_stored(0, sums, kSumsStride);
  _tile_stored(1, sums + kTileLanes, kSumsStride);
}

// Scales rows [begin, end) of a panel's sums and writes them out.
void finish_int8(const TileArgs& t, std::int64_t begin, std::int64_t end, const std::int32_t* sums) {
  const auto* scales = reinterpret_cast<const float*>(t.panel);
  const Isa::Float panel_scales[2] = {Isa::load(scales), Isa::load(scales + kTileLanes)};
  for (std::int64_t row = begin; row < end; ++row, sums += kPanelWidth) {
    const auto scale = Isa::broadcast(t.rows.scales[row]);
    for (int v = 0; v < 2; ++v) {
      const auto whole = _mm512_load_si512(sums + v * kTileLanes);
      const auto value = Isa::mul(Isa::to_float(whole), Isa::mul(scale, panel_scales[v]));
      finish_row<Isa>(t, row, v * kTileLanes, value);
    }
  }
}

void run_int8(const QuantisedTask& task) {
  const PackedMatrixShape& shape = task.args.weights.shape;
  const RowTiles tiles(task, 1);
  const TileSession session(tiles.height, kTileDepth);
  auto* sums = reinterpret_cast<std::int32_t*>(task.scratch);
  const std::int64_t depth = task.rows.depth;
  for (std::int64_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
    const PanelOutput out(task.args, panel);
    const TileArgs tile{task.rows, shape, task.args.weights.panel(panel), out, 0, 0};
    const std::byte* quants = tile.panel + shape.block().quants_offset;
    for (std::int64_t i = 0; i < tiles.count; i += 2) {
      const std::int64_t begin = task.row_begin + i * tiles.height;
      const std::int8_t* input = task.rows.values + begin * depth;
      if (i + 1 < tiles.count) {
        multiply_two_tiles(input, depth, tiles.height, quants, sums);
      } else {
        multiply_one_tile(input, depth, quants, sums);
      }
      finish_int8(tile, begin, std::min(begin + 2 * tiles.height, task.row_end), sums);
    }
  }
}

// The quants of one panel as signed bytes in the places they would have as kQ8_0, without scales between.
void unpack_panel(const PackedMatrixShape& shape, const std::byte* panel, std::byte* bytes) {
  constexpr std::size_t kHalf = kGroupSize / 2 * kPanelWidth;
  const __m512i zero = _mm512_set1_epi8(static_cast<char>(zero_point(shape.format)));
  const BlockLayout layout = shape.block();
  const std::byte* quants = panel + layout.quants_offset;
  for (std::int64_t g = 0; g < shape.num_groups(); ++g, quants += layout.bytes, bytes += 2 * kHalf) {
    for (std::size_t i = 0; i < kHalf; i += 64) {
      _mm512_store_si512(bytes + i, _mm512_sub_epi8(Isa::low_nibbles(quants + i), zero));
      _mm512_store_si512(bytes + kHalf + i, _mm512_sub_epi8(Isa::high_nibbles(quants + i), zero));
    }
  }
}

// 8-bit quants of a panel's groups: in place, or unpacked.
struct GroupQuants {
  const std::byte* first;
  std::size_t stride;
};

constexpr std::int64_t kTileSums = kTileRows * kTileLanes;
// So many groups' sums are on their way from the tiles through memory to the vectors: less, and loads wait for stores.
constexpr std::int64_t kGroupsInFlight = 4;

// Sums of group g to its place among the sums in flight.
inline __attribute__((always_inline)) void sum_group(const std::int8_t* input, std::int64_t depth,
                                                     const GroupQuants& quants, std::int64_t g, std::int32_t* sums) {
  _tile_loadd(4, input + g * kGroupSize, depth);
  _tile_loadd(6, quants.first + static_cast<std::size_t>(g) * quants.stride, kQuadBytes);
  _tile_zero(0);
  _tile_dpbssd(0, 4, 6);
  _tile_stored(0, sums + g % kGroupsInFlight * kTileSums, kTileLanes * 4);
}

// kRows rows from t.row on, kTileLanes outputs from t.lane on; rows from row_end on are not written.
template <int kRows, bool kHasMinimum>
void multiply_group_tile(const TileArgs& t, GroupQuants quants, std::int64_t row_end, std::int32_t* sums) {
  Isa::Float totals[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) totals[r] = _mm512_setzero_ps();
  const std::int64_t num_groups = t.rows.num_blocks;
  const std::int8_t* input = t.rows.values + t.row * t.rows.depth;
  const std::byte* block = t.panel;
  const std::size_t block_bytes = t.shape.block().bytes;
  const float* scales = t.rows.scales + t.row;
  const float* scaled_sums = t.rows.scaled_sums + t.row;
  quants.first += t.lane * kQuadSize;
  for (std::int64_t g = 0; g < std::min(num_groups, kGroupsInFlight - 1); ++g) {
    sum_group(input, t.rows.depth, quants, g, sums);
  }
  for (std::int64_t g = 0; g < num_groups;
       ++g, block += block_bytes, scales += t.rows.stride, scaled_sums += t.rows.stride) {
    const std::int64_t ahead = g + kGroupsInFlight - 1;
    if (ahead < num_groups) sum_group(input, t.rows.depth, quants, ahead, sums);
    const std::int32_t* group_sums = sums + g % kGroupsInFlight * kTileSums;
    const auto* halves = reinterpret_cast<const std::uint16_t*>(block) + t.lane;
    const auto scale = Isa::load_half(halves);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto product = Isa::mul(Isa::broadcast(scales[r]), scale);
      totals[r] = Isa::fma(Isa::to_float(_mm512_load_si512(group_sums + r * kTileLanes)), product, totals[r]);
    }
    if constexpr (kHasMinimum) {
      const auto minimum = Isa::load_half(halves + kPanelWidth);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        totals[r] = Isa::fma(Isa::broadcast(scaled_sums[r]), minimum, totals[r]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if (t.row + r < row_end) finish_row<Isa>(t, t.row + r, t.lane, totals[r]);
  }
}

template <bool kHasMinimum>
void run_groups(const QuantisedTask& task) {
  constexpr std::int64_t kHeightMultiple = 4;
  static constexpr std::array kByHeight = {&multiply_group_tile<4, kHasMinimum>, &multiply_group_tile<8, kHasMinimum>,
                                           &multiply_group_tile<12, kHasMinimum>,
                                           &multiply_group_tile<16, kHasMinimum>};
  const PackedMatrixShape& shape = task.args.weights.shape;
  const RowTiles tiles(task, kHeightMultiple);
  const TileSession session(tiles.height, kGroupSize);
  const auto multiply = kByHeight[static_cast<std::size_t>(tiles.height / kHeightMultiple - 1)];
  auto* sums = reinterpret_cast<std::int32_t*>(task.scratch);
  std::byte* unpacked = task.scratch + kGroupsInFlight * kTileSums * 4;
  for (std::int64_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
    const std::byte* data = task.args.weights.panel(panel);
    GroupQuants quants{data + shape.block().quants_offset, shape.block().bytes};
    if (has_four_bits(shape.format)) {
      unpack_panel(shape, data, unpacked);
      quants = {unpacked, kGroupSize * kPanelWidth};
    }
    const PanelOutput out(task.args, panel);
    for (std::int64_t lane = 0; lane < kPanelWidth; lane += kTileLanes) {
      for (std::int64_t row = task.row_begin; row < task.row_end; row += tiles.height) {
        multiply({task.rows, shape, data, out, row, lane}, quants, task.row_end, sums);
      }
    }
  }
}

}  // namespace

std::size_t quantised_scratch_bytes(const PackedMatrixShape& shape) {
  static_assert(kGroupsInFlight >= 4);  // as many as one tile of rows over a panel, twice, needs
  const std::size_t sums = kGroupsInFlight * kTileSums * sizeof(std::int32_t);
  return sums + (has_four_bits(shape.format) ? static_cast<std::size_t>(shape.depth() * kPanelWidth) : 0);
}

void quantised_task_amx(const QuantisedTask& task) {
  if (task.row_end - task.row_begin < kMinRows) return quantised_task_avx512_vnni(task);
  const WeightFormat format = task.args.weights.shape.format;
  if (format == WeightFormat::kInt8) return run_int8(task);
  return format == WeightFormat::kQ4_1 ? run_groups<true>(task) : run_groups<false>(task);
}

}  // namespace trireme::kernels::cpu
HWY_POP_ATTRIBUTES
