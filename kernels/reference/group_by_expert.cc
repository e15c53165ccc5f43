#include <algorithm>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {

// Counting sort.
void group_by_expert(const GroupByExpertArgs& args) {
  const std::int64_t num_choices = args.num_rows * args.num_chosen;
  std::fill_n(args.offsets, args.num_experts + 1, 0);
  for (std::int64_t i = 0; i < num_choices; ++i) ++args.offsets[args.experts[i] + 1];
  for (std::int64_t e = 0; e < args.num_experts; ++e) args.offsets[e + 1] += args.offsets[e];
  // offsets[e] counts up to offsets[e + 1] as the expert's places are taken; then all move back by one.
  for (std::int64_t i = 0; i < num_choices; ++i) {
    const std::int32_t place = args.offsets[args.experts[i]]++;
    args.places[i] = place;
    args.rows[place] = static_cast<std::int32_t>(i / args.num_chosen);
  }
  std::copy_backward(args.offsets, args.offsets + args.num_experts, args.offsets + args.num_experts + 1);
  args.offsets[0] = 0;
}

}  // namespace trireme::kernels::reference
