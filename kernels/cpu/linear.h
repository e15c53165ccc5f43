// The two kinds of Linear on the CPU.
#pragma once

#include "kernels/cpu/context.h"
#include "kernels/ops.h"

namespace trireme::kernels::cpu {

void linear_float(Context& context, const LinearArgs& args);
void linear_quantised(Context& context, const LinearArgs& args);

}  // namespace trireme::kernels::cpu
