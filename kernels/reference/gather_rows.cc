#include <algorithm>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

void gather_rows(const GatherRowsArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    std::copy_n(args.input + args.rows[r] * args.row_size, args.row_size, args.output + r * args.row_size);
  }
}

}  // namespace trireme::kernels::reference
