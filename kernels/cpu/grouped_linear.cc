// One Linear per group that has rows: each reads its own weights, all threads at once.
#include "kernels/cpu/operations.h"

namespace trireme::kernels::cpu {

void grouped_linear(Context& context, const GroupedLinearArgs& args) {
  for (std::size_t g = 0; g < args.weights.size(); ++g) {
    const LinearArgs group = args.group(g);
    if (group.num_rows > 0) linear(context, group);
  }
}

}  // namespace trireme::kernels::cpu
