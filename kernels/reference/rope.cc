#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void rope(const RopeArgs& args) {
  const std::int64_t half = args.rotary_dim / 2;
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const float* table = args.table + r * args.rotary_dim;
    for (std::int64_t h = 0; h < args.num_heads; ++h) {
      float* head = args.values + r * args.values_stride + h * args.head_dim;
      for (std::int64_t i = 0; i < half; ++i) {
        const double cosine = table[2 * i];
        const double sine = table[2 * i + 1];
        const double a = head[i];
        const double b = head[i + half];
        head[i] = static_cast<float>(a * cosine - b * sine);
        head[i + half] = static_cast<float>(b * cosine + a * sine);
      }
    }
  }
}

}  // namespace trireme::kernels::reference
