#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void grouped_linear(const GroupedLinearArgs& args) {
  for (std::size_t g = 0; g < args.weights.size(); ++g) linear(args.group(g));
}

}  // namespace trireme::kernels::reference
