// A copy: memcpy is SIMD already.
#include <cstring>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"

namespace trireme::kernels::cpu {

void gather_rows(Context& context, const GatherRowsArgs& args) {
  const std::size_t row_bytes = static_cast<std::size_t>(args.row_size) * sizeof(float);
  parallel_ranges(context.pool, args.num_rows, args.row_size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::memcpy(args.output + r * args.row_size, args.input + args.rows[r] * args.row_size, row_bytes);
    }
  });
}

}  // namespace trireme::kernels::cpu
