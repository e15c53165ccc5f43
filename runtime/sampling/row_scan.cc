#include "runtime/sampling/row_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace trireme::sampling {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kLanes = 16;  // independent maxima, so that the compiler can use vectors
constexpr float kLowest = -std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

struct BlockScan {
  float max = kLowest;
  bool valid = true;  // neither NaN nor +inf
};

BlockScan scan_block(std::span<const float> block) {
  std::array<float, kLanes> maxima;
  std::array<std::int32_t, kLanes> invalid{};
  maxima.fill(kLowest);
  std::size_t i = 0;
  for (; i + kLanes <= block.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float value = block[i + lane];
      maxima[lane] = value > maxima[lane] ? value : maxima[lane];
      invalid[lane] |= value <= kLargest ? 0 : -1;
    }
  }
  BlockScan scan;
  for (; i < block.size(); ++i) {
    scan.max = std::max(scan.max, block[i]);
    scan.valid = scan.valid && block[i] <= kLargest;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    scan.max = std::max(scan.max, maxima[lane]);
    scan.valid = scan.valid && invalid[lane] == 0;
  }
  return scan;
}

}  // namespace

RowScan scan_row(std::span<const float> row) {
  float max = kLowest;
  std::size_t best_begin = 0;
  for (std::size_t begin = 0; begin < row.size(); begin += kBlock) {
    const BlockScan scan = scan_block(row.subspan(begin, std::min(kBlock, row.size() - begin)));
    if (!scan.valid) return {};
    if (scan.max > max) {
      max = scan.max;
      best_begin = begin;
    }
  }
  if (max == kLowest) return {};
  const auto best = std::find(row.begin() + static_cast<std::ptrdiff_t>(best_begin), row.end(), max);
  return {max, static_cast<std::int32_t>(best - row.begin()), true};
}

}  // namespace trireme::sampling
