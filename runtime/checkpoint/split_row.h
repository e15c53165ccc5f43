// SplitRow: a stored row of a block type taken apart into its whole numbers and their scales, for those who compute
// with them as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"

namespace trireme::checkpoint {

// Element i of the row is scales[i / 32] * quants[i], plus minimums[i / 32] where the type has minimums (Q4_1).
struct SplitRow {
  std::vector<std::uint16_t> scales;    // float16
  std::vector<std::uint16_t> minimums;  // float16; empty where the type has none
  std::vector<std::int8_t> quants;      // Q8_0: -128 … 127; Q4_0: -8 … 7; Q5_0: -16 … 15; Q4_1: 0 … 15
};

// Whether rows of this type can be split: Q8_0, Q4_0, Q5_0 and Q4_1.
bool can_split(TensorType type);

// Row `row` of the tensor; reuses the vectors' memory. Any thread. Precondition: can_split(tensor.type).
void split_row(const TensorInfo& tensor, std::int64_t row, SplitRow& result);

}  // namespace trireme::checkpoint
