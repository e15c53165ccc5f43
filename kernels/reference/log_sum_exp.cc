#include <algorithm>
#include <cmath>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void log_sum_exp(const LogSumExpArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const float* row = args.input + r * args.row_size;
    const double maximum = *std::max_element(row, row + args.row_size);
    // A row of -inf has no shift that could help.
    const double shift = std::isfinite(maximum) ? maximum : 0;
    double sum = 0;
    for (std::int64_t i = 0; i < args.row_size; ++i) sum += std::exp(row[i] - shift);
    args.output[r] = static_cast<float>(std::log(sum) + shift);
  }
}

}  // namespace trireme::kernels::reference
