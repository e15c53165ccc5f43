// QuantisedRows: the input of a Linear with quantised weights, rounded at run time: one scale per row for kInt8, one
// per row and group for the formats in groups. Made and used within one operation.
//
// For the values x of a row or group, with largest = max |x|: scale = largest / 127, quant = round(x * (127 /
// largest)), half to even, in float32; so quants are within ±127. A largest below 2^-100 counts as zero: scale and
// quants are 0. A value that is not finite makes the scale not-a-number and the quants 0, and so the row's whole output
// not-a-number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/packed_matrix.h"

namespace trireme::kernels {

inline constexpr float kMaxQuant = 127.0f;
inline constexpr float kLeastQuantised = 0x1p-100f;

struct QuantisedRows {
  std::int64_t depth = 0;         // of the weights: elements from one row to the next, padded with zeros
  std::int64_t num_blocks = 0;    // scales per row: 1, or the number of groups
  std::int8_t* values = nullptr;  // [num_rows, depth]
  std::int64_t stride = 0;        // from one block's scales to the next block's
  float* scales = nullptr;        // [num_blocks, num_rows]: the rows of a tile side by side
  std::int32_t* sums = nullptr;   // [num_blocks, num_rows]: of the block's values
  float* scaled_sums = nullptr;   // [num_blocks, num_rows]: scale * float(sum)

  std::int64_t block_size() const { return depth / num_blocks; }

  // Rows that may be read, and are never used, beyond the last one.
  static constexpr std::int64_t kSlackRows = 16;
  static std::size_t bytes(const PackedMatrixShape& shape, std::int64_t num_rows) {
    const std::int64_t rows = num_rows + kSlackRows;
    return static_cast<std::size_t>(rows * shape.depth()) +
           static_cast<std::size_t>(rows * shape.num_blocks()) * 3 * sizeof(float);
  }
  // `memory` holds bytes(shape, num_rows), 64-byte aligned.
  QuantisedRows(const PackedMatrixShape& shape, std::int64_t num_rows, std::byte* memory)
      : depth(shape.depth()), num_blocks(shape.num_blocks()), values(reinterpret_cast<std::int8_t*>(memory)) {
    stride = num_rows + kSlackRows;
    const std::int64_t blocks = stride * num_blocks;
    scales = reinterpret_cast<float*>(memory + (num_rows + kSlackRows) * depth);
    sums = reinterpret_cast<std::int32_t*>(scales + blocks);
    scaled_sums = scales + 2 * blocks;
  }
};

}  // namespace trireme::kernels
