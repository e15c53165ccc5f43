#include "runtime/model/stage_weights.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/model/matrix_source.h"

namespace trireme::model {
namespace {

std::string layer_tensor(const std::string& pattern, std::int32_t layer) {
  std::string name = pattern;
  const std::size_t place = name.find("{}");
  return place == std::string::npos ? name : name.replace(place, 2, std::to_string(layer));
}

MatrixPart plain(const std::string& pattern, std::int32_t layer, std::int64_t rows) {
  return {layer_tensor(pattern, layer), rows, 0};
}

MatrixSource qkv_source(const ModelDescription& model, std::int32_t layer) {
  const std::int64_t head_dim = model.head_dim;
  const std::int64_t interleaved = model.rotary_row_order == RotaryRowOrder::kInterleaved ? head_dim : 0;
  MatrixPart q = plain(model.names.q, layer, model.num_heads * head_dim);
  MatrixPart k = plain(model.names.k, layer, model.num_kv_heads * head_dim);
  q.interleaved_head_dim = k.interleaved_head_dim = interleaved;
  return {{q, k, plain(model.names.v, layer, model.num_kv_heads * head_dim)}, model.hidden_size};
}

MatrixSource attention_output_source(const ModelDescription& model, std::int32_t layer) {
  return {{plain(model.names.attention_output, layer, model.hidden_size)},
          std::int64_t{model.num_heads} * model.head_dim};
}

MatrixSource gate_up_source(const ModelDescription& model, std::int32_t layer) {
  return {
      {plain(model.names.gate, layer, model.intermediate_size), plain(model.names.up, layer, model.intermediate_size)},
      model.hidden_size};
}

MatrixSource down_source(const ModelDescription& model, std::int32_t layer) {
  return {{plain(model.names.down, layer, model.hidden_size)}, model.intermediate_size};
}

MatrixSource vocabulary_source(const ModelDescription& model, const std::string& name) {
  return {{{name, model.vocab_size, 0}}, model.hidden_size};
}

bool shares_embedding(const ModelDescription& model, const StageSpec& stage) {
  return model.tied_head && stage.first && stage.last;
}

// Every matrix of a stage, in the order of the arena: embedding, layers, head.
std::vector<MatrixSource> stage_sources(const ModelDescription& model, const StageSpec& stage) {
  std::vector<MatrixSource> sources;
  if (stage.first) sources.push_back(vocabulary_source(model, model.names.embedding));
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer; ++layer) {
    sources.push_back(qkv_source(model, layer));
    sources.push_back(attention_output_source(model, layer));
    sources.push_back(gate_up_source(model, layer));
    sources.push_back(down_source(model, layer));
  }
  if (stage.last && !shares_embedding(model, stage)) {
    sources.push_back(vocabulary_source(model, model.tied_head ? model.names.embedding : model.names.head));
  }
  return sources;
}

std::size_t aligned_bytes(const MatrixSource& source, base::DType type) {
  constexpr std::size_t kAlignment = 64;
  const kernels::PackedMatrixShape shape{type, source.out_features(), source.in_features};
  return (shape.bytes() + kAlignment - 1) / kAlignment * kAlignment;
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

  const float* norm(const std::string& pattern, std::int32_t layer, std::int64_t size) {
    if (error_ || pattern.empty()) return nullptr;
    auto values = read_vector(checkpoint_, layer_tensor(pattern, layer), size, model_.norm_weight_offset);
    if (values) return keep(*values);
    fail(values.error());
    return nullptr;
  }

  LayerWeights layer(std::int32_t index) {
    const TensorNames& names = model_.names;
    LayerWeights layer;
    layer.attention_norm = norm(names.attention_norm, index, model_.hidden_size);
    layer.qkv = linear(qkv_source(model_, index));
    layer.q_norm = norm(names.q_norm, index, model_.head_dim);
    layer.k_norm = norm(names.k_norm, index, model_.head_dim);
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
  const std::string next = layer_tensor(model.names.q, model.num_layers());
  if (checkpoint.find(next) == nullptr) return base::ok_status();
  return base::invalid_argument(checkpoint.path().string() + ": tensor " + next + " is beyond the " +
                                std::to_string(model.num_layers()) + " layers of the configuration");
}

}  // namespace

std::int64_t stage_weight_bytes(const ModelDescription& model, const StageSpec& stage, base::DType type) {
  std::size_t bytes = 0;
  for (const MatrixSource& source : stage_sources(model, stage)) bytes += aligned_bytes(source, type);
  return static_cast<std::int64_t>(bytes);
}

base::Result<std::unique_ptr<StageWeights>> load_stage_weights(const checkpoint::Checkpoint& checkpoint,
                                                               const ModelDescription& model, const StageSpec& stage,
                                                               base::DType type, kernels::ThreadPool& pool) {
  if (auto status = check_no_further_layer(checkpoint, model); !status) return status.error();
  for (const MatrixSource& source : stage_sources(model, stage)) {
    if (auto status = check_source(checkpoint, source); !status) return status.error();
  }
  auto weights = std::make_unique<StageWeights>();
  weights->matrices = base::AlignedBuffer<std::byte>(static_cast<std::size_t>(stage_weight_bytes(model, stage, type)));
  weights->matrices.prefer_huge_pages();
  Loader loader(checkpoint, model, type, pool, *weights);
  if (stage.first) weights->embedding = loader.linear(vocabulary_source(model, model.names.embedding)).matrix;
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer && !loader.error(); ++layer) {
    weights->layers.push_back(loader.layer(layer));
  }
  if (stage.last) {
    weights->final_norm = loader.norm(model.names.final_norm, 0, model.hidden_size);
    const std::string& head = model.tied_head ? model.names.embedding : model.names.head;
    if (shares_embedding(model, stage))
      weights->head.matrix = weights->embedding;
    else
      weights->head = loader.linear(vocabulary_source(model, head));
  }
  if (loader.error()) return *loader.error();
  return weights;
}

}  // namespace trireme::model
