#include <cmath>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void layer_norm(const LayerNormArgs& args) {
  const auto size = static_cast<double>(args.row_size);
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const float* input = args.input + r * args.row_size;
    float* output = args.output + r * args.row_size;
    double mean = 0;
    for (std::int64_t i = 0; i < args.row_size; ++i) mean += input[i] / size;
    double variance = 0;
    for (std::int64_t i = 0; i < args.row_size; ++i) variance += (input[i] - mean) * (input[i] - mean) / size;
    const double scale = 1 / std::sqrt(variance + args.epsilon);
    for (std::int64_t i = 0; i < args.row_size; ++i) {
      const double bias = args.bias != nullptr ? args.bias[i] : 0.0;
      output[i] = static_cast<float>((input[i] - mean) * scale * args.weight[i] + bias);
    }
  }
}

}  // namespace trireme::kernels::reference
