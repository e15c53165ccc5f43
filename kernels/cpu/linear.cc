#include "kernels/cpu/linear.h"

#include "kernels/cpu/operations.h"

namespace trireme::kernels::cpu {

void linear(Context& context, const LinearArgs& args) {
  if (is_quantised(args.weights.shape.format)) {
    linear_quantised(context, args);
  } else {
    linear_float(context, args);
  }
}

}  // namespace trireme::kernels::cpu
