#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void add(const AddArgs& args) {
  for (std::int64_t i = 0; i < args.size; ++i) args.output[i] += args.input[i];
}

}  // namespace trireme::kernels::reference
