// Sines and cosines: the reference's, row by row, so that every CPU back end has the same bits.
#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"
#include "kernels/reference/operations.h"

namespace trireme::kernels::cpu {

void rope_table(Context& context, const RopeTableArgs& args) {
  constexpr std::int64_t kCostOfSine = 32;  // in elements of parallel_ranges
  parallel_ranges(context.pool, args.num_rows, args.rotary_dim * kCostOfSine,
                  [&](std::int64_t begin, std::int64_t end) {
                    RopeTableArgs part = args;
                    part.positions += begin;
                    part.output += begin * args.rotary_dim;
                    part.num_rows = end - begin;
                    reference::rope_table(part);
                  });
}

}  // namespace trireme::kernels::cpu
