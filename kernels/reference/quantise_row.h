// Quantises one row of a Linear's input: the definition is in kernels/quantised_rows.h.
#pragma once

#include <cstdint>

#include "kernels/quantised_rows.h"

namespace trireme::kernels::reference {

// input: [in_features]; fills row `row` of `rows`, padding included.
void quantise_row(const float* input, std::int64_t in_features, std::int64_t row, const QuantisedRows& rows);

}  // namespace trireme::kernels::reference
