// output[r, :] = scale * table[token_ids[r], :]: gathers one lane of each panel row; rounded once.
#include "kernels/cpu/operations.h"
#include "kernels/cpu/parallel_ranges.h"
#include "kernels/reference/operations.h"

namespace trireme::kernels::cpu {

// The elements of a row lie kPanelWidth apart, one to a cache line, so there is nothing for SIMD to gain.
void embed(Context& context, const EmbedArgs& args) {
  parallel_ranges(context.pool, args.num_rows, args.table.shape.in_features * 4,
                  [&](std::int64_t begin, std::int64_t end) {
                    EmbedArgs part = args;
                    part.token_ids += begin;
                    part.output += begin * args.table.shape.in_features;
                    part.num_rows = end - begin;
                    reference::embed(part);
                  });
}

}  // namespace trireme::kernels::cpu
