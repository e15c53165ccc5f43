#include <cmath>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

// Every CPU back end uses this one: the angle is rounded to float32, its sine and cosine are taken in double.
void rope_table(const RopeTableArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    float* row = args.output + r * args.rotary_dim;
    for (std::int64_t i = 0; i < args.rotary_dim / 2; ++i) {
      const float angle = static_cast<float>(args.positions[r]) * args.inverse_frequencies[i];
      row[2 * i] = static_cast<float>(std::cos(static_cast<double>(angle)) * args.attention_factor);
      row[2 * i + 1] = static_cast<float>(std::sin(static_cast<double>(angle)) * args.attention_factor);
    }
  }
}

}  // namespace trireme::kernels::reference
