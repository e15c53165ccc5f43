// How attention is cut into tasks for threads, and the memory of one task. Bits do not depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/ops.h"

namespace trireme::kernels::cpu {

// Keys or values of one block that are multiplied together at most.
inline constexpr std::int64_t kKeyTile = 96;
// Query rows times heads of a KV group that share each key, unless one row has more heads.
inline constexpr std::int64_t kQueryTile = 64;
// A tile of at most this many rows times heads (decode) over more partitions than that is cut along the context.
inline constexpr std::int64_t kMaxRowsToSplit = 16;
inline constexpr std::int64_t kPartitionsPerTask = 4;

// Some query rows of one sequence, with all heads of one KV group, over partitions [partition_begin, partition_end).
struct AttentionTask {
  const AttentionSequence* sequence;
  std::int64_t kv_head;
  std::int64_t row_begin, row_end;  // within the sequence
  std::int64_t partition_begin, partition_end;
  std::int64_t partial_offset = -1;  // in floats: where a cut task leaves its partitions' results; -1: not cut
};

// The state of an online softmax over some partitions for `rows` rows (query row times head):
// maximum, sum of exponentials and weighted sum of values.
struct SoftmaxState {
  float* maximum;   // [rows]
  float* sum;       // [rows]
  float* weighted;  // [rows, padded_head_dim]

  static std::int64_t size(std::int64_t rows, std::int64_t padded_head_dim) { return rows * (padded_head_dim + 2); }
  SoftmaxState(float* memory, std::int64_t rows) : maximum(memory), sum(memory + rows), weighted(memory + 2 * rows) {}
};

struct AttentionShape {
  std::int64_t head_dim;
  std::int64_t padded_head_dim;  // multiple of kPanelWidth, hence of every tile's width
  std::int64_t group;            // query heads per KV head
  std::int64_t rows_per_tile;    // query rows
  std::int64_t max_rows;         // rows_per_tile * group

  explicit AttentionShape(const AttentionArgs& args)
      : head_dim(args.cache.layout.head_dim),
        padded_head_dim((head_dim + kPanelWidth - 1) / kPanelWidth * kPanelWidth),
        group(args.num_heads / args.cache.num_kv_heads),
        rows_per_tile(std::max<std::int64_t>(1, kQueryTile / group)),
        max_rows(rows_per_tile * group) {}
};

// Padded, so that rows do not fall on the same cache sets.
inline constexpr std::int64_t kScoreStride = kAttentionPartition + 16;

struct AttentionScratch {
  float* query;         // [max_rows, head_dim]
  float* scores;        // [max_rows, kScoreStride]
  float* key_scales;    // [kScoreStride], of int8 keys of one partition
  float* value_scales;  // [kScoreStride], likewise
  float* values;        // [kKeyTile, padded_head_dim]
  SoftmaxState part;    // of one partition
  SoftmaxState total;

  AttentionScratch(float* memory, const AttentionShape& shape)
      : query(memory),
        scores(query + shape.max_rows * shape.padded_head_dim),
        key_scales(scores + shape.max_rows * kScoreStride),
        value_scales(key_scales + kScoreStride),
        values(value_scales + kScoreStride),
        part(values + kKeyTile * shape.padded_head_dim, shape.max_rows),
        total(part.maximum + SoftmaxState::size(shape.max_rows, shape.padded_head_dim), shape.max_rows) {}

  static std::size_t bytes(const AttentionShape& shape) {
    const std::int64_t floats = shape.max_rows * shape.padded_head_dim + (shape.max_rows + 2) * kScoreStride +
                                kKeyTile * shape.padded_head_dim +
                                2 * SoftmaxState::size(shape.max_rows, shape.padded_head_dim);
    return static_cast<std::size_t>(floats) * sizeof(float);
  }
};

// The positions that query position `position` sees.
struct KeyRange {
  std::int64_t begin, end;
};
inline KeyRange visible_keys(const AttentionArgs& args, std::int64_t position) {
  const std::int64_t begin = args.window > 0 ? std::max<std::int64_t>(0, position - args.window + 1) : 0;
  return {begin, position + 1};
}
inline KeyRange intersect(KeyRange a, KeyRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

struct AttentionPlan {
  std::vector<AttentionTask> tasks;
  std::vector<AttentionTask> merges;  // a whole tile each, whose parts were computed by cut tasks
  std::int64_t num_partial_floats = 0;

  // Reuses the vectors' memory.
  void build(const AttentionArgs& args, const AttentionShape& shape);
};

}  // namespace trireme::kernels::cpu
