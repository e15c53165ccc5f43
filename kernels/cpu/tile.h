// Operands of the register tile (tile-inl.h): plain data, the same for all instruction sets.
#pragma once

#include <cstddef>

namespace trireme::kernels::cpu {

// Whether sums start at zero or go on from what C holds.
enum class Start { kFromZero, kFromC };

// C[rows, columns] from A[rows, depth] * B[depth, columns]; row-major, strides in elements. C is float32 and never
// aliases A or B. Element: float, hwy::float16_t, hwy::bfloat16_t or std::int8_t.
template <typename Element>
struct TileOperands {
  const float* a = nullptr;
  std::size_t a_stride = 0;
  const Element* b = nullptr;
  std::size_t b_stride = 0;
  std::size_t depth = 0;
  float* c = nullptr;
  std::size_t c_stride = 0;
  Start start = Start::kFromZero;
  const Element* next = nullptr;  // [depth, b_stride], what is read next: fetched into the caches meanwhile
};

}  // namespace trireme::kernels::cpu
