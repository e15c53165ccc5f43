// A row has few experts, and the reference's exponentials in double make routing the same everywhere.
#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"
#include "kernels/reference/operations.h"

namespace trireme::kernels::cpu {

void route_experts(Context& context, const RouteExpertsArgs& args) {
  parallel_ranges(context.pool, args.num_rows, args.num_experts * (8 + args.num_chosen),
                  [&](std::int64_t begin, std::int64_t end) {
                    RouteExpertsArgs part = args;
                    part.logits += begin * args.num_experts;
                    part.experts += begin * args.num_chosen;
                    part.weights += begin * args.num_chosen;
                    part.num_rows = end - begin;
                    reference::route_experts(part);
                  });
}

}  // namespace trireme::kernels::cpu
