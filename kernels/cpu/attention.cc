// Causal attention over fixed partitions of the cache (contract and formula: ops.h).
//
// Rows of a task are (query row, head of one KV group), so that each key and value is widened once for all of them.
// Within a partition: scores by the register tile, lanes are keys, one chain over head_dim; maximum; exponentials,
// summed by lanes at fixed positions; weighted sum by the register tile, lanes are elements, one chain over the row's
// own keys in ascending order. Partitions are merged in ascending order. All in float32: the error is a few (head_dim +
// partition) * 2^-24 of the norms of query, keys and values.
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

enum class Part { kKeys, kValues };

// The addresses of positions [range.begin, range.end), block by block.
void locate(const Attention& a, Part part, KeyRange range, KvAddress* addresses) {
  const KvLayerView& cache = a.args.cache;
  const KvChunkLayout& layout = cache.layout;
  const bool has_scale = (part == Part::kKeys ? layout.key_type : layout.value_type) == base::DType::kI8;
  for (std::int64_t position = range.begin; position < range.end;) {
    const std::int64_t block = position / layout.block_tokens;
    std::byte* chunk = cache.chunk(a.task.sequence->block_table[block], a.task.kv_head);
    const std::int64_t block_end = std::min(range.end, (block + 1) * layout.block_tokens);
    for (std::int64_t token = position - block * layout.block_tokens; position < block_end; ++position, ++token) {
      *addresses = part == Part::kKeys ? key_address(layout, chunk, token) : value_address(layout, chunk, token);
      if (!has_scale) addresses->scale = a.scratch.zeros;
      ++addresses;
    }
  }
}

// Scores of the partition's keys into scratch.scores, at columns position - partition begin.
void compute_scores(const Attention& a, std::int64_t partition) {
  const KeyRange keys = a.task_keys(partition);
  const std::int64_t partition_begin = partition * kAttentionPartition;
  const auto zero = KvAddress{reinterpret_cast<std::byte*>(a.scratch.zeros), a.scratch.zeros};
  for (std::int64_t begin = keys.begin / kKeyTile * kKeyTile; begin < keys.end; begin += kKeyTile) {
    TileTokens tile;
    const KeyRange readable = intersect(keys, {begin, begin + kKeyTile});
    std::fill(tile.tokens, tile.tokens + (readable.begin - begin), zero);
    locate(a, Part::kKeys, readable, tile.tokens + (readable.begin - begin));
    std::fill(tile.tokens + (readable.end - begin), tile.tokens + kKeyTile, zero);
    load_keys(tile, a.args.cache.layout.key_type, a.shape.head_dim, a.scratch.keys);
    // Rows before `first` see none of these keys.
    std::int64_t first = 0;
    while (a.visible(first).end <= begin) ++first;
    const std::int64_t row = first * a.shape.group;
    multiply_rows(static_cast<std::size_t>(a.num_rows() - row), kKeyTile,
                  {a.scratch.query + row * a.shape.head_dim, static_cast<std::size_t>(a.shape.head_dim), a.scratch.keys,
                   kKeyTile, static_cast<std::size_t>(a.shape.head_dim),
                   a.scratch.scores + row * kScoreStride + (begin - partition_begin), kScoreStride, Start::kFromZero});
  }
}

// Turns the scores in columns [begin, end) into exponentials; returns their maximum and sum.
struct RowSoftmax {
  float maximum, sum;
};
RowSoftmax exponentiate(const AttentionArgs& args, float* scores, std::size_t begin, std::size_t end) {
  const FloatTag d;
  const FloatVector lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const FloatVector scale = hn::Set(d, args.scale);
  const FloatVector cap = hn::Set(d, args.softcap);
  const std::size_t first = begin / kLanes * kLanes;
  FloatVector maxima = lowest;
  for (std::size_t i = first; i < end; i += kLanes) {
    FloatVector s = hn::Mul(hn::LoadU(d, scores + i), scale);
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
    const FloatVector e = exponential(hn::Sub(hn::LoadU(d, scores + i), shift));
    sums = hn::Add(sums, e);
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
      const RowSoftmax row = exponentiate(a.args, a.scratch.scores + r * kScoreStride,
                                          static_cast<std::size_t>(keys.begin - partition_begin),
                                          static_cast<std::size_t>(keys.end - partition_begin));
      state.maximum[r] = row.maximum;
      state.sum[r] = row.sum;
    }
  }
}

// weighted[query rows] += exponentials[query rows, keys] * values[keys]; scratch.values begins at position tile_begin.
void add_values(const Attention& a, std::int64_t query_begin, std::int64_t query_end, KeyRange keys,
                std::int64_t tile_begin, const SoftmaxState& state) {
  const std::int64_t row = query_begin * a.shape.group;
  const std::int64_t column = keys.begin % kAttentionPartition;
  multiply_rows(static_cast<std::size_t>((query_end - query_begin) * a.shape.group),
                static_cast<std::size_t>(a.shape.padded_head_dim),
                {a.scratch.scores + row * kScoreStride + column, kScoreStride,
                 a.scratch.values + (keys.begin - tile_begin) * a.shape.padded_head_dim,
                 static_cast<std::size_t>(a.shape.padded_head_dim), static_cast<std::size_t>(keys.end - keys.begin),
                 state.weighted + row * a.shape.padded_head_dim, static_cast<std::size_t>(a.shape.padded_head_dim),
                 Start::kFromC});
}

// A row is multiplied with the keys that it sees and no others: a zero weight would not hide what is not a number.
void compute_weighted(const Attention& a, std::int64_t partition, const SoftmaxState& state) {
  const KeyRange keys = a.task_keys(partition);
  std::fill_n(state.weighted, a.num_rows() * a.shape.padded_head_dim, 0.0f);
  for (std::int64_t begin = keys.begin; begin < keys.end;) {
    const KeyRange tile{begin, std::min(keys.end, (begin / kKeyTile + 1) * kKeyTile)};
    KvAddress tokens[kKeyTile];
    locate(a, Part::kValues, tile, tokens);
    load_values(tokens, tile.end - tile.begin, a.args.cache.layout, a.shape.padded_head_dim, a.scratch.values);
    for (std::int64_t q = 0; q < a.num_query_rows();) {
      const KeyRange seen = intersect(a.visible(q), tile);
      std::int64_t next = q + 1;
      const auto sees_all = [&](std::int64_t row) {
        const KeyRange range = intersect(a.visible(row), tile);
        return range.begin == tile.begin && range.end == tile.end;
      };
      if (sees_all(q)) {
        while (next < a.num_query_rows() && sees_all(next)) ++next;
      }
      if (seen.begin < seen.end) add_values(a, q, next, seen, tile.begin, state);
      q = next;
    }
    begin = tile.end;
  }
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
  std::fill_n(scratch.zeros, shape.padded_head_dim, 0.0f);
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
