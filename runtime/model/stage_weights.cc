#include "runtime/model/stage_weights.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/checkpoint/conversion.h"
#include "runtime/config/weights_names.h"
#include "runtime/model/matrix_source.h"

namespace trireme::model {
namespace {

// Fills one StageWeights; keeps the first error and then does nothing more.
class Loader {
 public:
  Loader(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model, const FormatChooser& choose,
         kernels::ThreadPool& pool, StageWeights& weights)
      : checkpoint_(checkpoint), model_(model), choose_(choose), pool_(pool), weights_(weights) {}

  LinearWeights linear(const MatrixSource& source) {
    LinearWeights linear;
    if (error_) return linear;
    linear.matrix = {packed_shape(source, choose_(source)), weights_.matrices.data() + used_};
    if (auto status = fill(source, linear.matrix.shape.format, weights_.matrices.data() + used_); !status) {
      return fail(status.error());
    }
    used_ += linear.matrix.shape.aligned_bytes();
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

  ExpertWeights experts(std::int32_t layer) {
    ExpertWeights experts;
    experts.router = linear(router_source(model_, layer));
    for (std::int32_t expert = 0; expert < model_.experts.num_experts; ++expert) {
      experts.gate_up.push_back(linear(expert_gate_up_source(model_, layer, expert)).matrix);
      experts.down.push_back(linear(expert_down_source(model_, layer, expert)).matrix);
    }
    return experts;
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
    if (model_.layers[static_cast<std::size_t>(index)].experts) {
      layer.experts = experts(index);
    } else {
      layer.gate_up = linear(gate_up_source(model_, index));
      layer.down = linear(down_source(model_, index));
    }
    layer.post_ffn_norm = norm(names.post_ffn_norm, index, model_.hidden_size);
    return layer;
  }

  const std::optional<base::Error>& error() const { return error_; }

 private:
  base::Status fill(const MatrixSource& source, kernels::WeightFormat format, std::byte* packed) const {
    const checkpoint::Conversion* conversion = checkpoint_.conversion();
    if (conversion == nullptr) return pack_source(checkpoint_, source, format, packed, pool_);
    return copy_matrix(*conversion, *conversion->find(source.name), pool_, packed);
  }
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
  const FormatChooser& choose_;
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

base::Status check_stored(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source) {
  const checkpoint::Conversion* conversion = checkpoint.conversion();
  if (conversion == nullptr) return check_source(checkpoint, source);
  const checkpoint::PackedMatrix* matrix = conversion->find(source.name);
  const std::string what = conversion->file + ": tensor " + source.name;
  if (matrix == nullptr) return base::invalid_argument(what + " is missing");
  if (matrix->shape.out_features == source.out_features() && matrix->shape.in_features == source.in_features) {
    return base::ok_status();
  }
  return base::invalid_argument(what + " has not the shape that the model's settings ask for");
}

// What is packed cannot be packed otherwise without loss.
base::Status check_option(const checkpoint::Checkpoint& checkpoint, config::Weights option) {
  const checkpoint::Conversion* conversion = checkpoint.conversion();
  if (conversion == nullptr || option == config::Weights::kAuto) return base::ok_status();
  const std::string asked(config::to_string(option)), &held = conversion->provenance.weights;
  if (asked == held) return base::ok_status();
  return base::invalid_argument(conversion->file + ": holds weights converted with --weights " + held + ", not " +
                                asked + ": convert the source again");
}

}  // namespace

base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               config::Weights option, kernels::ThreadPool& pool) {
  if (auto status = check_option(checkpoint, option); !status) return status.error();
  return load_stage_weights(checkpoint, model, stage, make_format_chooser(checkpoint, model, option), pool);
}

base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               const FormatChooser& choose, kernels::ThreadPool& pool) {
  if (auto status = check_no_further_layer(checkpoint, model); !status) return status.error();
  std::size_t bytes = 0;
  for (const MatrixSource& source : stage_sources(model, stage)) {
    if (auto status = check_stored(checkpoint, source); !status) return status.error();
    bytes += packed_shape(source, choose(source)).aligned_bytes();
  }
  auto weights = std::make_unique<StageWeights>();
  weights->matrices = base::AlignedBuffer<std::byte>(bytes);
  weights->matrices.prefer_huge_pages();
  Loader loader(checkpoint, model, choose, pool, *weights);
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
