#include "runtime/model/stage_adapter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace trireme::model {
namespace {

using kernels::PackedMatrixShape;
using kernels::PackedMatrixView;

// Packs the tensor times `scale` at `packed` (zeroed).
base::Result<PackedMatrixView> pack(const checkpoint::TensorInfo& tensor, const PackedMatrixShape& shape, float scale,
                                    std::byte* packed) {
  std::vector<float> values(static_cast<std::size_t>(shape.out_features * shape.in_features));
  checkpoint::Checkpoint::read_rows(tensor, 0, shape.out_features, values.data());
  for (float& value : values) value *= scale;
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    return base::invalid_argument(tensor.file + ": tensor " + tensor.name + " holds values that are not finite");
  }
  kernels::pack_rows(shape, values.data(), 0, shape.out_features, packed);
  return PackedMatrixView{shape, packed};
}

}  // namespace

base::Result<StageAdapter> load_stage_adapter(const checkpoint::Checkpoint& adapter,
                                              const AdapterDescription& description, const StageSpec& stage) {
  StageAdapter result;
  result.rank = description.rank;
  result.layers.resize(static_cast<std::size_t>(stage.end_layer - stage.begin_layer));
  const std::int64_t bytes = description.bytes(stage.begin_layer, stage.end_layer);
  result.memory = base::AlignedBuffer<std::byte>(static_cast<std::size_t>(bytes));
  std::byte* next = result.memory.data();
  for (const AdapterTarget& target : description.targets) {
    if (target.layer < stage.begin_layer || target.layer >= stage.end_layer) continue;
    const PackedMatrixShape shape_a = target.a_shape(description.rank), shape_b = target.b_shape(description.rank);
    auto a = pack(*adapter.find(target.a), shape_a, 1.0f, next);
    if (!a) return a.error();
    next += shape_a.aligned_bytes();
    auto b = pack(*adapter.find(target.b), shape_b, description.scale, next);
    if (!b) return b.error();
    next += shape_b.aligned_bytes();
    auto& layer = result.layers[static_cast<std::size_t>(target.layer - stage.begin_layer)];
    layer[static_cast<std::size_t>(target.slot)].push_back({*a, *b, target.first_output});
  }
  return result;
}

LowRankUpdates::LowRankUpdates(std::vector<StageAdapter> adapters, kernels::Ops& ops)
    : adapters_(std::move(adapters)), ops_(ops) {
  for (const StageAdapter& adapter : adapters_) max_rank_ = std::max(max_rank_, adapter.rank);
}

void LowRankUpdates::reserve(std::int64_t num_rows) {
  const auto size = static_cast<std::size_t>(num_rows * max_rank_);
  if (size > inner_.size()) inner_ = base::AlignedBuffer<float>(size);
}

void LowRankUpdates::apply(LinearPlace place, std::span<const AdapterRows> rows, const Activations& activations,
                           base::Stream stream) {
  for (const AdapterRows& run : rows) {
    TRIREME_CHECK(run.adapter < adapters_.size()) << run.adapter << " of " << adapters_.size();
    const StageAdapter& adapter = adapters_[run.adapter];
    const auto& layer = adapter.layers[static_cast<std::size_t>(place.layer)];
    reserve(run.num_rows);
    for (const AdapterMatrices& matrices : layer[static_cast<std::size_t>(place.slot)]) {
      kernels::LinearArgs args;
      args.num_rows = run.num_rows;
      args.input = activations.input + run.first_row * activations.input_stride;
      args.input_stride = activations.input_stride;
      args.weights = matrices.a;
      args.output = inner_.data();
      args.output_stride = adapter.rank;
      ops_.linear(args, stream);
      args.input = inner_.data();
      args.input_stride = adapter.rank;
      args.weights = matrices.b;
      args.output = activations.output + run.first_row * activations.output_stride + matrices.first_output;
      args.output_stride = activations.output_stride;
      args.mode = kernels::OutputMode::kAdd;
      ops_.linear(args, stream);
    }
  }
}

}  // namespace trireme::model
