#include "kernels/reference/operations.h"
#include "kernels/reference/packed_element.h"

namespace trireme::kernels::reference {

void embed(const EmbedArgs& args) {
  const std::int64_t hidden_size = args.table.shape.in_features;
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    for (std::int64_t i = 0; i < hidden_size; ++i) {
      args.output[r * hidden_size + i] = args.scale * packed_element(args.table, args.token_ids[r], i);
    }
  }
}

}  // namespace trireme::kernels::reference
