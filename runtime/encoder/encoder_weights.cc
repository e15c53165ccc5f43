#include "runtime/encoder/encoder_weights.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/model/matrix_source.h"
#include "runtime/model/weight_plan.h"

namespace trireme::encoder {
namespace {

using kernels::WeightFormat;
using model::LinearWeights;
using model::MatrixSource;
using model::NormWeights;

// Fills one EncoderWeights; keeps the first error and then does nothing more.
class Loader {
 public:
  Loader(const checkpoint::Checkpoint& checkpoint, const EncoderDescription& encoder, kernels::ThreadPool& pool,
         EncoderWeights& weights)
      : checkpoint_(checkpoint), encoder_(encoder), pool_(pool), weights_(weights) {}

  LinearWeights linear(const MatrixSource& source, WeightFormat format) {
    if (error_) return {};
    if (auto status = model::check_source(checkpoint_, source); !status) return fail(status.error());
    const kernels::PackedMatrixShape shape = model::packed_shape(source, format);
    auto& packed = weights_.matrices.emplace_back(shape.bytes());
    if (auto status = model::pack_source(checkpoint_, source, format, packed.data(), pool_); !status) {
      return fail(status.error());
    }
    auto bias = model::read_bias(checkpoint_, source);
    if (!bias) return fail(bias.error());
    return {{shape, packed.data()}, bias->empty() ? nullptr : keep(*bias)};
  }

  NormWeights norm(const std::string& name) { return {vector(name + ".weight"), vector(name + ".bias")}; }

  EncoderLayer layer(std::int32_t index, WeightFormat format) {
    const std::string name = encoder_.prefix + "encoder.layer." + std::to_string(index) + ".";
    const std::int64_t hidden = encoder_.hidden_size, inner = encoder_.intermediate_size;
    const std::string self = name + "attention.self.";
    EncoderLayer layer;
    layer.qkv = linear(
        {{{self + "query.weight", hidden}, {self + "key.weight", hidden}, {self + "value.weight", hidden}}, hidden},
        format);
    layer.attention_output = linear({{{name + "attention.output.dense.weight", hidden}}, hidden}, format);
    layer.attention_norm = norm(name + "attention.output.LayerNorm");
    layer.up = linear({{{name + "intermediate.dense.weight", inner}}, hidden}, format);
    layer.down = linear({{{name + "output.dense.weight", hidden}}, inner}, format);
    layer.ffn_norm = norm(name + "output.LayerNorm");
    return layer;
  }

  const std::optional<base::Error>& error() const { return error_; }

 private:
  LinearWeights fail(const base::Error& error) {
    if (!error_) error_ = error;
    return {};
  }
  const float* vector(const std::string& name) {
    if (error_) return nullptr;
    auto values = model::read_vector(checkpoint_, name, encoder_.hidden_size, 0.0f);
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
  const EncoderDescription& encoder_;
  kernels::ThreadPool& pool_;
  EncoderWeights& weights_;
  std::optional<base::Error> error_;
};

}  // namespace

base::Result<std::unique_ptr<EncoderWeights>> load_encoder_weights(const checkpoint::Checkpoint& checkpoint,
                                                                   const EncoderDescription& encoder,
                                                                   WeightFormat format, kernels::ThreadPool& pool) {
  auto weights = std::make_unique<EncoderWeights>();
  Loader loader(checkpoint, encoder, pool, *weights);
  const WeightFormat table = format == WeightFormat::kF32 ? format : WeightFormat::kF16;
  const std::string name = encoder.prefix + "embeddings.";
  const std::int64_t hidden = encoder.hidden_size;
  weights->words = loader.linear({{{name + "word_embeddings.weight", encoder.vocab_size}}, hidden}, table).matrix;
  weights->positions =
      loader.linear({{{name + "position_embeddings.weight", encoder.max_positions}}, hidden}, table).matrix;
  weights->token_types =
      loader.linear({{{name + "token_type_embeddings.weight", encoder.num_token_types}}, hidden}, table).matrix;
  weights->embedding_norm = loader.norm(name + "LayerNorm");
  for (std::int32_t i = 0; i < encoder.num_layers && !loader.error(); ++i) {
    weights->layers.push_back(loader.layer(i, format));
  }
  if (encoder.classifies()) {
    weights->pooler = loader.linear({{{encoder.prefix + "pooler.dense.weight", hidden}}, hidden}, format);
    const auto num_labels = static_cast<std::int64_t>(encoder.labels.size());
    weights->classifier = loader.linear({{{"classifier.weight", num_labels}}, hidden}, format);
  }
  if (loader.error()) return *loader.error();
  return weights;
}

}  // namespace trireme::encoder
