// KvGroup: the blocks of one layer group, and which of them a position can see.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trireme::scheduler {

// Blocks of one layer group: all layers with the same attention window.
struct KvGroup {
  std::int32_t window = 0;  // position p sees the positions (p - window, p]; 0: all up to p
  std::int32_t num_blocks = 0;
};

constexpr std::int32_t ceil_div(std::int32_t a, std::int32_t b) {
  return (a + b - 1) / b;
}

// Index, in a sequence's block table, of the first block that `position` or any later one sees.
constexpr std::int32_t first_visible_block(const KvGroup& group, std::int32_t block_tokens, std::int32_t position) {
  return group.window == 0 ? 0 : std::max(0, position - group.window + 1) / block_tokens;
}

}  // namespace trireme::scheduler
