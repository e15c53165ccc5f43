#include "kernels/cpu/attention_task.h"

namespace trireme::kernels::cpu {

void AttentionPlan::build(const AttentionArgs& args, const AttentionShape& shape) {
  tasks.clear();
  merges.clear();
  num_partial_floats = 0;
  for (const AttentionSequence& sequence : args.sequences) {
    for (std::int64_t head = 0; head < args.cache.num_kv_heads; ++head) {
      for (std::int64_t begin = 0; begin < sequence.num_rows; begin += shape.rows_per_tile) {
        const std::int64_t end = std::min(sequence.num_rows, begin + shape.rows_per_tile);
        const std::int64_t first_key = visible_keys(args, sequence.first_position + begin).begin;
        const std::int64_t last_key = sequence.first_position + end - 1;
        AttentionTask tile{
            &sequence, head, begin, end, first_key / kAttentionPartition, last_key / kAttentionPartition + 1};
        const std::int64_t rows = (end - begin) * shape.group;
        if (rows > kMaxRowsToSplit || tile.partition_end - tile.partition_begin <= kPartitionsPerTask) {
          tasks.push_back(tile);
          continue;
        }
        tile.partial_offset = num_partial_floats;
        merges.push_back(tile);
        for (std::int64_t p = tile.partition_begin; p < tile.partition_end; p += kPartitionsPerTask) {
          AttentionTask part = tile;
          part.partition_begin = p;
          part.partition_end = std::min(tile.partition_end, p + kPartitionsPerTask);
          part.partial_offset = num_partial_floats;
          num_partial_floats += (part.partition_end - p) * SoftmaxState::size(rows, shape.padded_head_dim);
          tasks.push_back(part);
        }
      }
    }
  }
}

}  // namespace trireme::kernels::cpu
