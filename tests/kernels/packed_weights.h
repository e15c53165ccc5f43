// Weights for tests: packed memory and what the packed elements are after rounding.
#pragma once

#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/packed_matrix.h"

namespace trireme::kernels {

class PackedWeights {
 public:
  PackedWeights(PackedMatrixShape shape, std::span<const float> rows) : shape_(shape), memory_(shape.bytes()) {
    pack_rows(shape_, rows.data(), 0, shape_.out_features, memory_.data());
  }
  PackedMatrixView view() const { return {shape_, memory_.data()}; }

 private:
  PackedMatrixShape shape_;
  base::AlignedBuffer<std::byte> memory_;
};

}  // namespace trireme::kernels
