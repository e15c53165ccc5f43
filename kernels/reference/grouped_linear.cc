#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void grouped_linear(const GroupedLinearArgs& args) {
  for (std::size_t g = 0; g < args.weights.size(); ++g) {
    LinearArgs group;
    group.input = args.input + args.offsets[g] * args.input_stride;
    group.input_stride = args.input_stride;
    group.weights = args.weights[g];
    group.output = args.output + args.offsets[g] * args.output_stride;
    group.output_stride = args.output_stride;
    group.num_rows = args.offsets[g + 1] - args.offsets[g];
    linear(group);
  }
}

}  // namespace trireme::kernels::reference
