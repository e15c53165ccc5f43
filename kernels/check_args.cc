#include "kernels/check_args.h"

#include "base/check.h"

namespace trireme::kernels {
namespace {

using base::DType;

void check(const PackedMatrixView& matrix) {
  const auto& shape = matrix.shape;
  TRIREME_CHECK(shape.format <= WeightFormat::kQ4_1) << static_cast<int>(shape.format);
  TRIREME_CHECK(shape.out_features > 0 && shape.in_features > 0) << shape.out_features << " x " << shape.in_features;
  TRIREME_CHECK(!is_quantised(shape.format) || shape.in_features <= kMaxQuantisedInFeatures) << shape.in_features;
  TRIREME_CHECK(matrix.data != nullptr);
}

void check(const KvLayerView& cache) {
  const auto& layout = cache.layout;
  TRIREME_CHECK(layout.key_type != DType::kBF16 && layout.value_type != DType::kBF16);
  TRIREME_CHECK(layout.block_tokens > 0 && layout.block_tokens % 4 == 0) << layout.block_tokens;
  TRIREME_CHECK(layout.head_dim > 0 && layout.head_dim % 4 == 0) << layout.head_dim;
  TRIREME_CHECK(cache.num_kv_heads > 0) << cache.num_kv_heads;
  TRIREME_CHECK(cache.base != nullptr);
}

}  // namespace

void check(const EmbedArgs& args) {
  check(args.table);
  TRIREME_CHECK(args.num_rows >= 0) << args.num_rows;
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const std::int32_t id = args.token_ids[r];
    TRIREME_CHECK(id >= 0 && id < args.table.shape.out_features) << "token id " << id << " in row " << r;
  }
}

void check(const RmsNormArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.num_groups > 0 && args.group_size > 0)
      << args.num_rows << ' ' << args.num_groups << ' ' << args.group_size;
  const std::int64_t row_size = args.num_groups * args.group_size;
  TRIREME_CHECK(args.num_rows <= 1 || (args.input_stride >= row_size && args.output_stride >= row_size))
      << args.input_stride << ' ' << args.output_stride << ' ' << row_size;
}

void check(const LayerNormArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.row_size > 0) << args.num_rows << ' ' << args.row_size;
  TRIREME_CHECK(args.weight != nullptr);
}

void check(const LinearArgs& args) {
  check(args.weights);
  TRIREME_CHECK(args.num_rows >= 0) << args.num_rows;
  TRIREME_CHECK(args.num_rows <= 1 || (args.input_stride >= args.weights.shape.in_features &&
                                       args.output_stride >= args.weights.shape.out_features))
      << args.input_stride << ' ' << args.output_stride;
}

void check(const RopeTableArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.rotary_dim > 0 && args.rotary_dim % 2 == 0)
      << args.num_rows << ' ' << args.rotary_dim;
}

void check(const RopeArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.num_heads > 0) << args.num_rows << ' ' << args.num_heads;
  TRIREME_CHECK(args.rotary_dim > 0 && args.rotary_dim % 2 == 0 && args.rotary_dim <= args.head_dim)
      << args.rotary_dim << " of " << args.head_dim;
  TRIREME_CHECK(args.num_rows <= 1 || args.values_stride >= args.num_heads * args.head_dim) << args.values_stride;
}

void check(const KvStoreArgs& args) {
  check(args.cache);
  TRIREME_CHECK(args.num_rows >= 0) << args.num_rows;
  TRIREME_CHECK(args.num_rows <= 1 || args.input_stride >= args.cache.num_kv_heads * args.cache.layout.head_dim)
      << args.input_stride;
  for (std::int64_t r = 0; r < args.num_rows; ++r) TRIREME_CHECK(args.slots[r] >= 0) << args.slots[r];
}

void check(const AttentionArgs& args) {
  check(args.cache);
  TRIREME_CHECK(args.num_heads > 0 && args.num_heads % args.cache.num_kv_heads == 0)
      << args.num_heads << " heads over " << args.cache.num_kv_heads << " KV heads";
  TRIREME_CHECK(args.window >= 0 && args.softcap >= 0) << args.window << ' ' << args.softcap;
  const std::int64_t row_size = args.num_heads * args.cache.layout.head_dim;
  TRIREME_CHECK(args.query_stride >= row_size && args.output_stride >= row_size)
      << args.query_stride << ' ' << args.output_stride;
  for (const AttentionSequence& sequence : args.sequences) {
    TRIREME_CHECK(sequence.num_rows >= 0 && sequence.first_row >= 0 && sequence.first_position >= 0)
        << sequence.num_rows << ' ' << sequence.first_row << ' ' << sequence.first_position;
    TRIREME_CHECK(sequence.num_rows == 0 || sequence.block_table != nullptr);
  }
}

void check(const ActivationArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.row_size > 0) << args.num_rows << ' ' << args.row_size;
  TRIREME_CHECK(args.num_rows <= 1 || (args.input_stride >= args.row_size && args.output_stride >= args.row_size))
      << args.input_stride << ' ' << args.output_stride;
}

void check(const RouteExpertsArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.num_chosen > 0 && args.num_chosen <= args.num_experts)
      << args.num_rows << ' ' << args.num_chosen << ' ' << args.num_experts;
}

void check(const GroupByExpertArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.num_chosen > 0 && args.num_experts > 0)
      << args.num_rows << ' ' << args.num_chosen << ' ' << args.num_experts;
  for (std::int64_t i = 0; i < args.num_rows * args.num_chosen; ++i) {
    TRIREME_CHECK(args.experts[i] >= 0 && args.experts[i] < args.num_experts) << args.experts[i];
  }
}

void check(const GroupedLinearArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && !args.weights.empty()) << args.num_rows;
  const auto num_groups = args.weights.size();
  TRIREME_CHECK(args.offsets[0] == 0 && args.offsets[num_groups] == args.num_rows) << args.offsets[num_groups];
  for (std::size_t g = 0; g < num_groups; ++g) {
    check(args.weights[g]);
    TRIREME_CHECK(args.offsets[g] <= args.offsets[g + 1]) << g;
    TRIREME_CHECK(args.weights[g].shape.out_features == args.weights[0].shape.out_features &&
                  args.weights[g].shape.in_features == args.weights[0].shape.in_features)
        << g;
  }
  TRIREME_CHECK(args.num_rows <= 1 || (args.input_stride >= args.weights[0].shape.in_features &&
                                       args.output_stride >= args.weights[0].shape.out_features))
      << args.input_stride << ' ' << args.output_stride;
}

void check(const CombineExpertsArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.num_chosen > 0 && args.row_size > 0)
      << args.num_rows << ' ' << args.num_chosen << ' ' << args.row_size;
}

void check(const AddArgs& args) {
  TRIREME_CHECK(args.size >= 0) << args.size;
}

void check(const GatherRowsArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.row_size > 0) << args.num_rows << ' ' << args.row_size;
  for (std::int64_t r = 0; r < args.num_rows; ++r) TRIREME_CHECK(args.rows[r] >= 0) << args.rows[r];
}

void check(const SoftcapArgs& args) {
  TRIREME_CHECK(args.size >= 0 && args.cap > 0) << args.size << ' ' << args.cap;
}

void check(const LogSumExpArgs& args) {
  TRIREME_CHECK(args.num_rows >= 0 && args.row_size > 0) << args.num_rows << ' ' << args.row_size;
}

}  // namespace trireme::kernels
