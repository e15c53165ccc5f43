#include <cmath>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void softcap(const SoftcapArgs& args) {
  for (std::int64_t i = 0; i < args.size; ++i) {
    const double cap = args.cap;
    args.values[i] = static_cast<float>(cap * std::tanh(args.values[i] / cap));
  }
}

}  // namespace trireme::kernels::reference
