// Quantises rows of a Linear's input, with the bits of reference::quantise_row (definition: kernels/quantised_rows.h).
#pragma once

#include <cstdint>

#include "kernels/cpu/context.h"
#include "kernels/ops.h"
#include "kernels/quantised_rows.h"

namespace trireme::kernels::cpu {

// All rows of args.input, by all threads where that is worth it.
void quantise_rows(Context& context, const LinearArgs& args, const QuantisedRows& rows);

}  // namespace trireme::kernels::cpu
