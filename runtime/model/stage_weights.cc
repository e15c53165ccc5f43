#include "runtime/model/stage_weights.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/model/matrix_source.h"

namespace trireme::model {
namespace {

std::size_t aligned_bytes(const MatrixSource& source, base::DType type) {
  constexpr std::size_t kAlignment = 64;
  const kernels::PackedMatrixShape shape{type, source.out_features(), source.in_features};
  return (shape.bytes() + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t matrix_bytes(const ModelDescription& model, const StageSpec& stage, base::DType type) {
  std::size_t bytes = 0;
  for (const MatrixSource& source : stage_sources(model, stage)) bytes += aligned_bytes(source, type);
  return bytes;
}

// Fills one StageWeights; keeps the first error and then does nothing more.
class Loader {
 public:
  Loader(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model, base::DType type,
         kernels::ThreadPool& pool, StageWeights& weights)
      : checkpoint_(checkpoint), model_(model), type_(type), pool_(pool), weights_(weights) {}

  LinearWeights linear(const MatrixSource& source) {
    LinearWeights linear;
    if (error_) return linear;
    std::byte* packed = weights_.matrices.data() + used_;
    used_ += aligned_bytes(source, type_);
    if (auto status = pack_source(checkpoint_, source, type_, packed, pool_); !status) return fail(status.error());
    linear.matrix = {{type_, source.out_features(), source.in_features}, packed};
    auto bias = read_bias(checkpoint_, source);
    if (!bias) return fail(bias.error());
    if (!bias->empty()) linear.bias = keep(*bias);
    return linear;
  }

  NormWeights norm(const std::string& pattern, std::int32_t layer, std::int64_t size) {
    if (error_ || pattern.empty()) return {};
    const std::string name = layer_tensor(pattern, layer);
    NormWeights norm;
    norm.weight = vector(name, size, model_.norm_weight_offset);
    const std::string bias = bias_name(name);
    if (model_.norm_kind == NormKind::kLayer && checkpoint_.find(bias) != nullptr) norm.bias = vector(bias, size, 0.0f);
    return norm;
  }

  LayerWeights layer(std::int32_t index) {
    const TensorNames& names = model_.names;
    const bool per_head = model_.qk_norm_group == QkNormGroup::kHead;
    LayerWeights layer;
    layer.attention_norm = norm(names.attention_norm, index, model_.hidden_size);
    layer.qkv = linear(qkv_source(model_, index));
    layer.q_norm = norm(names.q_norm, index, per_head ? model_.head_dim : model_.q_rows());
    layer.k_norm = norm(names.k_norm, index, per_head ? model_.head_dim : model_.kv_rows());
    layer.attention_output = linear(attention_output_source(model_, index));
    layer.post_attention_norm = norm(names.post_attention_norm, index, model_.hidden_size);
    layer.ffn_norm = norm(names.ffn_norm, index, model_.hidden_size);
    layer.gate_up = linear(gate_up_source(model_, index));
    layer.down = linear(down_source(model_, index));
    layer.post_ffn_norm = norm(names.post_ffn_norm, index, model_.hidden_size);
    return layer;
  }

  const std::optional<base::Error>& error() const { return error_; }

 private:
  LinearWeights fail(const base::Error& error) {
    if (!error_) error_ = error;
    return {};
  }
  const float* vector(const std::string& name, std::int64_t size, float offset) {
    if (error_) return nullptr;
    auto values = read_vector(checkpoint_, name, size, offset);
    if (values) return keep(*values);
    fail(values.error());
    return nullptr;
  }
  const float* keep(const std::vector<float>& values) {
    weights_.vectors.push_back(std::make_unique<float[]>(values.size()));
    std::copy(values.begin(), values.end(), weights_.vectors.back().get());
    return weights_.vectors.back().get();
  }

  const checkpoint::Checkpoint& checkpoint_;
  const ModelDescription& model_;
  base::DType type_;
  kernels::ThreadPool& pool_;
  StageWeights& weights_;
  std::size_t used_ = 0;
  std::optional<base::Error> error_;
};

// A model with more layers in the file than its settings say would compute something else than what it was trained for.
base::Status check_no_further_layer(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model) {
  const std::string next = layer_tensor(model.names.attention_output, model.num_layers());
  if (checkpoint.find(next) == nullptr) return base::ok_status();
  return base::invalid_argument(checkpoint.path().string() + ": tensor " + next + " is beyond the " +
                                std::to_string(model.num_layers()) + " layers of the configuration");
}

}  // namespace

std::int64_t stage_weight_bytes(const ModelDescription& model, const StageSpec& stage, base::DType type) {
  constexpr std::int64_t kNormsPerLayer = 4;
  std::int64_t floats = kNormsPerLayer * (stage.end_layer - stage.begin_layer) * model.hidden_size;
  if (stage.last) floats += model.hidden_size;
  for (const MatrixSource& source : stage_sources(model, stage)) floats += source.out_features();
  return static_cast<std::int64_t>(matrix_bytes(model, stage, type)) +
         floats * static_cast<std::int64_t>(sizeof(float));
}

base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               base::DType type, kernels::ThreadPool& pool) {
  if (auto status = check_no_further_layer(checkpoint, model); !status) return status.error();
  for (const MatrixSource& source : stage_sources(model, stage)) {
    if (auto status = check_source(checkpoint, source); !status) return status.error();
  }
  auto weights = std::make_unique<StageWeights>();
  weights->matrices = base::AlignedBuffer<std::byte>(matrix_bytes(model, stage, type));
  weights->matrices.prefer_huge_pages();
  Loader loader(checkpoint, model, type, pool, *weights);
  if (stage.first) weights->embedding = loader.linear(embedding_source(model)).matrix;
  if (stage.first && !model.names.positions.empty()) weights->positions = loader.linear(position_source(model)).matrix;
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer && !loader.error(); ++layer) {
    weights->layers.push_back(loader.layer(layer));
  }
  if (stage.last) {
    weights->final_norm = loader.norm(model.names.final_norm, 0, model.hidden_size);
    if (shares_embedding(model, stage))
      weights->head.matrix = weights->embedding;
    else
      weights->head = loader.linear(head_source(model));
  }
  if (loader.error()) return *loader.error();
  return weights;
}

}  // namespace trireme::model
