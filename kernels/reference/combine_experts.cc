#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void combine_experts(const CombineExpertsArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    for (std::int64_t i = 0; i < args.row_size; ++i) {
      double sum = 0;
      for (std::int64_t c = 0; c < args.num_chosen; ++c) {
        const std::int64_t choice = r * args.num_chosen + c;
        sum += static_cast<double>(args.weights[choice]) * args.input[args.places[choice] * args.row_size + i];
      }
      args.output[r * args.row_size + i] = static_cast<float>(args.output[r * args.row_size + i] + sum);
    }
  }
}

}  // namespace trireme::kernels::reference
