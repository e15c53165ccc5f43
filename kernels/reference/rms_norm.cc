#include <cmath>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void rms_norm(const RmsNormArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    for (std::int64_t g = 0; g < args.num_groups; ++g) {
      const float* input = args.input + r * args.input_stride + g * args.group_size;
      float* output = args.output + r * args.output_stride + g * args.group_size;
      double sum = 0;
      for (std::int64_t i = 0; i < args.group_size; ++i) sum += static_cast<double>(input[i]) * input[i];
      const double scale = 1 / std::sqrt(sum / static_cast<double>(args.group_size) + args.epsilon);
      for (std::int64_t i = 0; i < args.group_size; ++i) {
        output[i] = static_cast<float>(input[i] * scale * args.weight[i]);
      }
    }
  }
}

}  // namespace trireme::kernels::reference
