// Causal attention over fixed partitions of the cache (contract and formula: ops.h).
//
// Rows of a task are (query row, head of one KV group), so that each key and value is read once for all of them.
// Within a partition: scores by the register tile, lanes are keys, one chain over head_dim, times the keys' scales;
// maximum; exponentials, summed by lanes at fixed positions, then times the values' scales; weighted sum by the
// register tile, lanes are elements, one chain over the row's own keys in ascending order. Partitions are merged in
// ascending order. All in float32: the error is a few (head_dim + partition) * 2^-24 of the norms of query, keys and
// values.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cc"
#include "hwy/foreach_target.h"
// foreach_target.h stays above all that is compiled once per instruction set
#include "kernels/cpu/kv_tile-inl.h"
#include "kernels/cpu/tile-inl.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/operations.h"

HWY_BEFORE_NAMESPACE();
namespace trireme::kernels::cpu {
namespace HWY_NAMESPACE {

// One task at work.
struct Attention {
  const AttentionArgs& args;
  const AttentionShape& shape;
  const AttentionTask& task;
  const AttentionScratch& scratch;

  std::int64_t num_query_rows() const { return task.row_end - task.row_begin; }
  std::int64_t num_rows() const { return num_query_rows() * shape.group; }
  KeyRange visible(std::int64_t query_row) const {
    return visible_keys(args, task.sequence->first_position + task.row_begin + query_row);
  }
  // The positions of one partition that a query row sees, and those that any row of the task sees.
  KeyRange row_keys(std::int64_t query_row, std::int64_t partition) const {
    return intersect(visible(query_row), {partition * kAttentionPartition, (partition + 1) * kAttentionPartition});
  }
  KeyRange task_keys(std::int64_t partition) const {
    return {row_keys(0, partition).begin, row_keys(num_query_rows() - 1, partition).end};
  }
};

void copy_queries(const Attention& a) {
  const auto head_bytes = static_cast<std::size_t>(a.shape.head_dim) * sizeof(float);
  float* target = a.scratch.query;
  for (std::int64_t q = 0; q < a.num_query_rows(); ++q) {
    const std::int64_t row = a.task.sequence->first_row + a.task.row_begin + q;
    const float* source = a.args.query + row * a.args.query_stride + a.task.kv_head * a.shape.group * a.shape.head_dim;
    std::memcpy(target, source, head_bytes * static_cast<std::size_t>(a.shape.group));
    target += a.shape.group * a.shape.head_dim;
  }
}

// Positions [begin, end) of one block, the first of which is `token` in `chunk`.
struct Piece {
  std::int64_t begin, end;
  std::byte* chunk;
  std::int64_t token;
  std::byte*
      next_chunk;  // of the block that the task reads after it, where this is the block's first piece; or nullptr
};

template <typename Visit>
void for_each_piece(const Attention& a, KeyRange range, const Visit& visit) {
  const std::int64_t block_tokens = a.args.cache.layout.block_tokens;
  const std::int64_t end_of_task = a.task_keys(a.task.partition_end - 1).end;
  for (std::int64_t begin = range.begin; begin < range.end;) {
    const std::int64_t block = begin / block_tokens;
    const std::int64_t end = std::min({range.end, (block + 1) * block_tokens, begin + kKeyTile});
    const auto chunk = [&](std::int64_t b) {
      return a.args.cache.chunk(a.task.sequence->block_table[b], a.task.kv_head);
    };
    const std::int64_t token = begin - block * block_tokens;
    const bool has_next = token == 0 && (block + 1) * block_tokens < end_of_task;
    visit(Piece{begin, end, chunk(block), token, has_next ? chunk(block + 1) : nullptr});
    begin = end;
  }
}

// The scales of the piece's keys or values, and into the caches those of the next block.
void copy_scales(const Attention& a, const Piece& piece,
                 KvAddress (*address)(const KvChunkLayout&, std::byte*, std::int64_t), float* target) {
  const KvChunkLayout& layout = a.args.cache.layout;
  std::copy_n(address(layout, piece.chunk, piece.token).scale, piece.end - piece.begin, target);
  if (piece.next_chunk == nullptr) return;
  const float* next = address(layout, piece.next_chunk, 0).scale;
  constexpr std::int32_t kPerLine = 64 / sizeof(float);
  for (std::int32_t i = 0; i < layout.block_tokens; i += kPerLine) hwy::Prefetch(next + i);
}

// Scores of the partition's keys, without their scales, into scratch.scores, at columns position - partition begin.
void compute_scores(const Attention& a, std::int64_t partition) {
  const KvChunkLayout& layout = a.args.cache.layout;
  std::int64_t first = 0;  // rows before it see none of the keys from here on
  for_each_piece(a, a.task_keys(partition), [&](const Piece& piece) {
    while (a.visible(first).end <= piece.begin) ++first;
    const std::int64_t row = first * a.shape.group;
    const std::int64_t column = piece.begin - partition * kAttentionPartition;
    const KvAddress keys = key_address(layout, piece.chunk, piece.token);
    const auto count = static_cast<std::size_t>(piece.end - piece.begin);
    // The last vector may hold more than the piece; what it writes too much is written again or never read.
    std::byte* next = piece.next_chunk == nullptr ? nullptr : key_address(layout, piece.next_chunk, 0).elements;
    multiply_cached(static_cast<std::size_t>(a.num_rows() - row), (count + kLanes - 1) / kLanes,
                    {keys.elements, next, layout.key_type},
                    {a.scratch.query + row * a.shape.head_dim, static_cast<std::size_t>(a.shape.head_dim), nullptr,
                     static_cast<std::size_t>(keys.stride), static_cast<std::size_t>(a.shape.head_dim),
                     a.scratch.scores + row * kScoreStride + column, kScoreStride, Start::kFromZero});
    if (layout.key_type == base::DType::kI8) copy_scales(a, piece, key_address, a.scratch.key_scales + column);
    if (layout.value_type == base::DType::kI8) copy_scales(a, piece, value_address, a.scratch.value_scales + column);
  });
}

// Turns a row's scores in columns [begin, end) into exponentials times the values' scales; returns the scores' maximum
// and the exponentials' sum.
struct RowSoftmax {
  float maximum, sum;
};
RowSoftmax exponentiate(const AttentionArgs& args, const AttentionScratch& scratch, float* scores, std::size_t begin,
                        std::size_t end) {
  const bool scaled_keys = args.cache.layout.key_type == base::DType::kI8;
  const bool scaled_values = args.cache.layout.value_type == base::DType::kI8;
  const FloatTag d;
  const FloatVector lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const FloatVector scale = hn::Set(d, args.scale);
  const FloatVector cap = hn::Set(d, args.softcap);
  const std::size_t first = begin / kLanes * kLanes;
  FloatVector maxima = lowest;
  for (std::size_t i = first; i < end; i += kLanes) {
    FloatVector s = hn::Mul(hn::LoadU(d, scores + i), scale);
    if (scaled_keys) s = hn::Mul(s, hn::LoadU(d, scratch.key_scales + i));
    if (args.softcap > 0) s = hn::Mul(cap, hyperbolic_tangent(hn::Div(s, cap)));
    auto visible = hn::FirstN(d, end - i);
    if (i < begin) visible = hn::AndNot(hn::FirstN(d, begin - i), visible);
    s = hn::IfThenElse(visible, s, lowest);
    maxima = hn::Max(s, maxima);
    hn::StoreU(s, d, scores + i);
  }
  const float maximum = hn::GetLane(hn::MaxOfLanes(d, maxima));
  const FloatVector shift = hn::Set(d, std::isinf(maximum) ? 0.0f : maximum);
  FloatVector sums = hn::Zero(d);
  for (std::size_t i = first; i < end; i += kLanes) {
    FloatVector e = exponential(hn::Sub(hn::LoadU(d, scores + i), shift));
    sums = hn::Add(sums, e);
    if (scaled_values) e = hn::Mul(e, hn::LoadU(d, scratch.value_scales + i));
    hn::StoreU(e, d, scores + i);
  }
  return {maximum, hn::GetLane(hn::SumOfLanes(d, sums))};
}

void compute_softmax(const Attention& a, std::int64_t partition, const SoftmaxState& state) {
  const std::int64_t partition_begin = partition * kAttentionPartition;
  for (std::int64_t q = 0; q < a.num_query_rows(); ++q) {
    const KeyRange keys = a.row_keys(q, partition);
    for (std::int64_t r = q * a.shape.group; r < (q + 1) * a.shape.group; ++r) {
      if (keys.begin >= keys.end) continue;
      const RowSoftmax row = exponentiate(a.args, a.scratch, a.scratch.scores + r * kScoreStride,
                                          static_cast<std::size_t>(keys.begin - partition_begin),
                                          static_cast<std::size_t>(keys.end - partition_begin));
      state.maximum[r] = row.maximum;
      state.sum[r] = row.sum;
    }
  }
}

// Whether values are multiplied as they lie in the cache. Many rows share one widened copy.
bool reads_values_in_place(const Attention& a) {
  return a.num_rows() <= static_cast<std::int64_t>(kMaxTileRows) &&
         a.shape.head_dim % static_cast<std::int64_t>(kLanes) == 0;
}

// weighted[query rows] += exponentials[query rows, keys] * values[keys], for keys of the piece.
void add_values(const Attention& a, std::int64_t query_begin, std::int64_t query_end, KeyRange keys, const Piece& piece,
                const SoftmaxState& state) {
  const KvChunkLayout& layout = a.args.cache.layout;
  const auto rows = static_cast<std::size_t>((query_end - query_begin) * a.shape.group);
  const std::int64_t row = query_begin * a.shape.group, skipped = keys.begin - piece.begin;
  const auto stride = static_cast<std::size_t>(a.shape.padded_head_dim);
  TileOperands<float> operands{a.scratch.scores + row * kScoreStride + keys.begin % kAttentionPartition,
                               kScoreStride,
                               a.scratch.values + skipped * a.shape.padded_head_dim,
                               stride,
                               static_cast<std::size_t>(keys.end - keys.begin),
                               state.weighted + row * a.shape.padded_head_dim,
                               stride,
                               Start::kFromC};
  if (!reads_values_in_place(a)) return multiply_rows(rows, stride, operands);
  operands.b_stride = static_cast<std::size_t>(a.shape.head_dim);
  multiply_cached(
      rows, operands.b_stride / kLanes,
      {value_address(layout, piece.chunk, piece.token + skipped).elements,
       piece.next_chunk == nullptr ? nullptr : value_address(layout, piece.next_chunk, 0).elements, layout.value_type},
      operands);
}

// A row is multiplied with the keys that it sees and no others: a zero weight would not hide what is not a number.
void compute_weighted(const Attention& a, std::int64_t partition, const SoftmaxState& state) {
  const KvChunkLayout& layout = a.args.cache.layout;
  std::fill_n(state.weighted, a.num_rows() * a.shape.padded_head_dim, 0.0f);
  for_each_piece(a, a.task_keys(partition), [&](const Piece& piece) {
    if (!reads_values_in_place(a)) {
      widen_values(value_address(layout, piece.chunk, piece.token).elements, piece.end - piece.begin, layout,
                   a.shape.padded_head_dim, a.scratch.values);
    }
    for (std::int64_t q = 0; q < a.num_query_rows();) {
      const KeyRange seen = intersect(a.visible(q), {piece.begin, piece.end});
      std::int64_t next = q + 1;
      const auto sees_all = [&](std::int64_t row) {
        const KeyRange range = intersect(a.visible(row), {piece.begin, piece.end});
        return range.begin == piece.begin && range.end == piece.end;
      };
      if (sees_all(q)) {
        while (next < a.num_query_rows() && sees_all(next)) ++next;
      }
      if (seen.begin < seen.end) add_values(a, q, next, seen, piece, state);
      q = next;
    }
  });
}

// total += part for the rows [begin, end): the online softmax's rescaling.
void merge_rows(const AttentionShape& shape, const SoftmaxState& part, std::int64_t begin, std::int64_t end,
                const SoftmaxState& total) {
  const FloatTag d;
  const float lowest = -std::numeric_limits<float>::infinity();
  for (std::int64_t r = begin; r < end; ++r) {
    const float maximum = std::max(total.maximum[r], part.maximum[r]);
    const float shift = maximum == lowest ? 0.0f : maximum;
    const FloatVector old_factor = exponential(hn::Set(d, total.maximum[r] - shift));
    const FloatVector new_factor = exponential(hn::Set(d, part.maximum[r] - shift));
    total.maximum[r] = maximum;
    total.sum[r] = total.sum[r] * hn::GetLane(old_factor) + part.sum[r] * hn::GetLane(new_factor);
    float* old_values = total.weighted + r * shape.padded_head_dim;
    const float* new_values = part.weighted + r * shape.padded_head_dim;
    for (std::int64_t i = 0; i < shape.padded_head_dim; i += static_cast<std::int64_t>(kLanes)) {
      const FloatVector old_part = hn::Mul(hn::LoadU(d, old_values + i), old_factor);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, new_values + i), new_factor, old_part), d, old_values + i);
    }
  }
}

void merge_partition(const Attention& a, std::int64_t partition, const SoftmaxState& part) {
  for (std::int64_t q = 0; q < a.num_query_rows(); ++q) {
    const KeyRange keys = a.row_keys(q, partition);
    if (keys.begin >= keys.end) continue;
    merge_rows(a.shape, part, q * a.shape.group, (q + 1) * a.shape.group, a.scratch.total);
  }
}

void clear(const Attention& a) {
  std::fill_n(a.scratch.total.maximum, a.num_rows(), -std::numeric_limits<float>::infinity());
  std::fill_n(a.scratch.total.sum, a.num_rows(), 0.0f);
  std::fill_n(a.scratch.total.weighted, a.num_rows() * a.shape.padded_head_dim, 0.0f);
}

void write_output(const Attention& a) {
  const FloatTag d;
  const auto head_dim = static_cast<std::size_t>(a.shape.head_dim);
  for (std::int64_t r = 0; r < a.num_rows(); ++r) {
    const std::int64_t row = a.task.sequence->first_row + a.task.row_begin + r / a.shape.group;
    const std::int64_t head = a.task.kv_head * a.shape.group + r % a.shape.group;
    float* output = a.args.output + row * a.args.output_stride + head * a.shape.head_dim;
    const float* weighted = a.scratch.total.weighted + r * a.shape.padded_head_dim;
    const FloatVector sum = hn::Set(d, a.scratch.total.sum[r]);
    for (std::size_t i = 0; i < head_dim; i += kLanes) {
      store_first(hn::Div(hn::LoadU(d, weighted + i), sum), output + i, std::min(kLanes, head_dim - i));
    }
  }
}

// Computes a task's partitions: into the output, or into `partials` where the task is a cut one.
void attend(const AttentionArgs& args, const AttentionShape& shape, const AttentionTask& task, float* memory,
            float* partials) {
  const AttentionScratch scratch(memory, shape);
  const Attention a{args, shape, task, scratch};
  copy_queries(a);
  const bool is_cut = task.partial_offset >= 0;
  if (!is_cut) clear(a);
  for (std::int64_t p = task.partition_begin; p < task.partition_end; ++p) {
    const std::int64_t offset =
        task.partial_offset + (p - task.partition_begin) * SoftmaxState::size(a.num_rows(), shape.padded_head_dim);
    const SoftmaxState part = is_cut ? SoftmaxState(partials + offset, a.num_rows()) : scratch.part;
    compute_scores(a, p);
    compute_softmax(a, p, part);
    compute_weighted(a, p, part);
    if (!is_cut) merge_partition(a, p, part);
  }
  if (!is_cut) write_output(a);
}

// Merges what the cut tasks of one tile left in `partials`.
void merge(const AttentionArgs& args, const AttentionShape& shape, const AttentionTask& tile, float* memory,
           float* partials) {
  const AttentionScratch scratch(memory, shape);
  const Attention a{args, shape, tile, scratch};
  clear(a);
  for (std::int64_t p = tile.partition_begin; p < tile.partition_end; ++p) {
    const std::int64_t offset =
        tile.partial_offset + (p - tile.partition_begin) * SoftmaxState::size(a.num_rows(), shape.padded_head_dim);
    merge_partition(a, p, SoftmaxState(partials + offset, a.num_rows()));
  }
  write_output(a);
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::kernels::cpu {

void attention(Context& context, const AttentionArgs& args) {
  const auto attend = choose(context, N_AVX2::attend, N_AVX3::attend);
  const auto merge = choose(context, N_AVX2::merge, N_AVX3::merge);
  const AttentionShape shape(args);
  AttentionPlan& plan = context.attention_plan;
  plan.build(args, shape);
  context.thread_scratch.reserve(AttentionScratch::bytes(shape));
  auto* partials = reinterpret_cast<float*>(
      context.shared_scratch.reserve(static_cast<std::size_t>(plan.num_partial_floats) * sizeof(float)));
  const auto run = [&](const std::vector<AttentionTask>& tasks, auto* function) {
    context.pool.parallel_for(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t i) {
      const ScratchPool::Lease lease(context.thread_scratch);
      function(args, shape, tasks[static_cast<std::size_t>(i)], lease.floats(), partials);
    });
  };
  run(plan.tasks, attend);
  run(plan.merges, merge);
}

}  // namespace trireme::kernels::cpu
#endif
