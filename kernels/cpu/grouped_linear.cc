// One Linear per group that has rows: each reads its own weights, all threads at once.
#include "kernels/cpu/operations.h"

namespace trireme::kernels::cpu {

void grouped_linear(Context& context, const GroupedLinearArgs& args) {
  for (std::size_t g = 0; g < args.weights.size(); ++g) {
    LinearArgs group;
    group.num_rows = args.offsets[g + 1] - args.offsets[g];
    if (group.num_rows == 0) continue;
    group.input = args.input + args.offsets[g] * args.input_stride;
    group.input_stride = args.input_stride;
    group.weights = args.weights[g];
    group.output = args.output + args.offsets[g] * args.output_stride;
    group.output_stride = args.output_stride;
    linear(context, group);
  }
}

}  // namespace trireme::kernels::cpu
