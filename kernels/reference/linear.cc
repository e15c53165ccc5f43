#include "kernels/reference/operations.h"
#include "kernels/reference/packed_element.h"

namespace trireme::kernels::reference {

void linear(const LinearArgs& args) {
  const PackedMatrixShape& shape = args.weights.shape;
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const float* input = args.input + r * args.input_stride;
    float* output = args.output + r * args.output_stride;
    for (std::int64_t o = 0; o < shape.out_features; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < shape.in_features; ++i) {
        sum += static_cast<double>(input[i]) * packed_element(args.weights, o, i);
      }
      if (args.bias != nullptr) sum += args.bias[o];
      if (args.mode == OutputMode::kAdd) sum += output[o];
      output[o] = static_cast<float>(sum);
    }
  }
}

}  // namespace trireme::kernels::reference
