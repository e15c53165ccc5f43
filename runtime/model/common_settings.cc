#include "runtime/model/common_settings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/model/rope_frequencies.h"

namespace trireme::model {
namespace {

void finish_common(MetadataReader& reader, ModelDescription& model, std::int32_t num_layers) {
  if (num_layers > 100'000) reader.fail("number of layers", "is implausibly large");
  if (reader.error()) return;
  if (model.num_heads % model.num_kv_heads != 0) reader.fail("number of heads", "is no multiple of the KV heads");
  if (model.head_dim % 4 != 0) reader.fail("head_dim", "is no multiple of 4");
  if (model.head_dim > 4096 || model.hidden_size > (1 << 20))
    reader.fail("hidden or head size", "is implausibly large");
  if (reader.error()) return;
  model.attention_scale = 1.0f / std::sqrt(static_cast<float>(model.head_dim));
  model.layers.resize(static_cast<std::size_t>(num_layers));
}

std::int32_t multiple(std::int32_t hidden_size, const HuggingFaceKeys& keys) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(std::int64_t{hidden_size} * keys.default_intermediate_factor, 0x7FFFFFFF));
}

}  // namespace

kernels::Activation activation_from_hugging_face(MetadataReader& config, std::string_view key,
                                                 std::string_view default_name) {
  using kernels::Activation;
  constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"silu", Activation::kSilu},          {"swish", Activation::kSilu},
      {"gelu", Activation::kGeluErf},       {"gelu_new", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh}, {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"relu", Activation::kRelu}};
  const std::string name = config.text_or(key, std::string(default_name));
  for (const auto& [known, activation] : kNames) {
    if (known == name) return activation;
  }
  config.fail(key, "'" + name + "' is not supported");
  return Activation::kSilu;
}

namespace {

void apply_llama3(MetadataReader& config, const nlohmann::json& parameters, RopeSpec& rope) {
  Llama3Scaling scaling;
  MetadataReader reader(parameters, "rope parameters");
  scaling.factor = reader.number_or("factor", scaling.factor);
  scaling.low_freq_factor = reader.number_or("low_freq_factor", scaling.low_freq_factor);
  scaling.high_freq_factor = reader.number_or("high_freq_factor", scaling.high_freq_factor);
  scaling.original_context = reader.number_or("original_max_position_embeddings", scaling.original_context);
  const bool ordered = scaling.high_freq_factor > scaling.low_freq_factor && scaling.low_freq_factor > 0;
  if (reader.error() || !ordered || scaling.factor <= 0 || scaling.original_context <= 0) {
    config.fail("rope parameters of llama3 scaling", "are missing or impossible");
    return;
  }
  scale_llama3(rope.inverse_frequencies, scaling);
}

}  // namespace

ModelDescription common_from_hugging_face(MetadataReader& config, const HuggingFaceKeys& keys) {
  ModelDescription model;
  model.vocab_size = config.positive("vocab_size");
  model.hidden_size = config.positive(keys.hidden_size);
  model.intermediate_size = keys.default_intermediate_factor == 0
                                ? config.positive(keys.intermediate_size)
                                : config.positive_or(keys.intermediate_size, multiple(model.hidden_size, keys));
  model.num_heads = config.positive(keys.num_heads);
  model.num_kv_heads = config.positive_or("num_key_value_heads", model.num_heads);
  model.head_dim = config.positive_or("head_dim", std::max(1, model.hidden_size / model.num_heads));
  model.max_positions = config.positive(keys.max_positions);
  model.norm_epsilon = static_cast<float>(config.number_or(keys.norm_epsilon, 1e-6));
  model.activation = activation_from_hugging_face(config, keys.activation, keys.default_activation);
  model.tied_head = config.flag_or("tie_word_embeddings", keys.tied_by_default);
  if (config.find("quantization_config") != nullptr) {
    config.fail("quantization_config", "is not supported: use a checkpoint in f32, f16 or bf16, or a GGUF file");
  }
  finish_common(config, model, config.positive(keys.num_layers));
  return model;
}

ModelDescription common_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model;
  const checkpoint::TensorInfo* embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr || embedding->num_rows() > 0x7FFFFFFF) {
    keys.fail("block_count", "comes without a tensor token_embd.weight");
    return model;
  }
  model.vocab_size = static_cast<std::int32_t>(embedding->num_rows());
  model.hidden_size = keys.positive("embedding_length");
  model.intermediate_size = keys.positive("feed_forward_length");
  model.num_heads = keys.positive("attention.head_count");
  model.num_kv_heads = keys.positive_or("attention.head_count_kv", model.num_heads);
  model.head_dim = keys.positive_or("attention.key_length", std::max(1, model.hidden_size / model.num_heads));
  if (keys.positive_or("attention.value_length", model.head_dim) != model.head_dim) {
    keys.fail("attention.value_length", "differs from attention.key_length, which is not supported");
  }
  model.max_positions = keys.positive("context_length");
  const double plain_epsilon = keys.number_or("attention.layer_norm_epsilon", 1e-6);
  model.norm_epsilon = static_cast<float>(keys.number_or("attention.layer_norm_rms_epsilon", plain_epsilon));
  model.tied_head = checkpoint.find("output.weight") == nullptr;
  finish_common(keys, model, keys.positive("block_count"));
  return model;
}

std::vector<bool> sliding_layers(MetadataReader& config, const ModelDescription& model) {
  std::vector<bool> sliding;
  const nlohmann::json* types = config.find("layer_types");
  if (types == nullptr) return sliding;
  if (!types->is_array() || types->size() != model.layers.size()) {
    config.fail("layer_types", "must list one type per layer");
    return sliding;
  }
  for (const nlohmann::json& type : *types) {
    sliding.push_back(type == "sliding_attention");
    if (!sliding.back() && type != "full_attention") config.fail("layer_types", "holds an unknown type of layer");
  }
  return sliding;
}

void windows_from_hugging_face(MetadataReader& config, ModelDescription& model) {
  if (!config.flag_or("use_sliding_window", true)) return;
  const std::int32_t window = config.positive_or("sliding_window", 0);
  if (window == 0) return;
  const std::vector<bool> sliding = sliding_layers(config, model);
  const double first_sliding = config.number_or("max_window_layers", 0.0);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const bool slides = sliding.empty() ? static_cast<double>(i) >= first_sliding : sliding[i];
    if (slides) model.layers[i].window = window;
  }
}

void windows_from_gguf(MetadataReader& keys, ModelDescription& model) {
  if (keys.number_or("attention.sliding_window", 0.0) == 0.0) return;
  const std::int32_t window = keys.positive("attention.sliding_window");
  for (LayerSpec& layer : model.layers) layer.window = window;
}

RopeSpec rope_from_hugging_face(MetadataReader& config, const nlohmann::json* parameters, std::int32_t rotary_dim,
                                double default_theta) {
  RopeSpec rope;
  rope.rotary_dim = rotary_dim;
  const nlohmann::json empty = nlohmann::json::object();
  if (parameters != nullptr && !parameters->is_object()) {
    config.fail("rope parameters", "must be an object");
    return rope;
  }
  const nlohmann::json& object = parameters == nullptr ? empty : *parameters;
  MetadataReader reader(object, "rope parameters");
  const double theta = reader.number_or("rope_theta", default_theta);
  // The older spelling is "type".
  const std::string kind = reader.text_or("rope_type", reader.text_or("type", "default"));
  if (reader.error() || theta <= 0) {
    config.fail("rope parameters", "are of the wrong type or not positive");
    return rope;
  }
  rope.inverse_frequencies = rope_frequencies(rotary_dim, theta);
  if (kind == "linear") {
    const double factor = reader.number_or("factor", 1.0);
    if (reader.error() || factor <= 0)
      config.fail("rope factor", "must be a positive number");
    else
      scale_linear(rope.inverse_frequencies, factor);
  } else if (kind == "llama3") {
    apply_llama3(config, object, rope);
  } else if (kind != "default") {
    config.fail("rope type '" + kind + "'", "is not supported (default, linear and llama3 are)");
  }
  return rope;
}

RopeSpec rope_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint, std::int32_t rotary_dim) {
  RopeSpec rope;
  rope.rotary_dim = rotary_dim;
  const double theta = keys.number_or("rope.freq_base", 10000.0);
  const std::string kind = keys.text_or("rope.scaling.type", "none");
  const double factor = keys.number_or("rope.scaling.factor", 1.0);
  if (theta <= 0 || factor <= 0) {
    keys.fail("rope.freq_base", "or rope.scaling.factor is not positive");
    return rope;
  }
  rope.inverse_frequencies = rope_frequencies(rotary_dim, theta);
  if (kind == "linear")
    scale_linear(rope.inverse_frequencies, factor);
  else if (kind != "none")
    keys.fail("rope.scaling.type", "'" + kind + "' is not supported (none and linear are)");
  // Llama 3's scaling comes as a tensor of divisors.
  const checkpoint::TensorInfo* divisors = checkpoint.find("rope_freqs.weight");
  if (divisors == nullptr) return rope;
  if (!checkpoint::Checkpoint::check_readable(*divisors) || divisors->row_size() != rotary_dim / 2 ||
      divisors->num_rows() != 1) {
    keys.fail("rope.dimension_count", "does not fit tensor rope_freqs.weight");
    return rope;
  }
  std::vector<float> values(rope.inverse_frequencies.size());
  checkpoint::Checkpoint::read_rows(*divisors, 0, 1, values.data());
  for (std::size_t i = 0; i < values.size(); ++i) rope.inverse_frequencies[i] /= values[i];
  return rope;
}

void rope_of_all_layers_from_hugging_face(MetadataReader& config, ModelDescription& model) {
  const nlohmann::json* parameters = config.find("rope_parameters");
  if (parameters == nullptr) parameters = config.find("rope_scaling");
  // The share that is turned has had three places.
  double share = config.number_or("partial_rotary_factor", config.number_or("rotary_pct", 1.0));
  if (parameters != nullptr && parameters->is_object()) {
    MetadataReader reader(*parameters, "rope parameters");
    share = reader.number_or("partial_rotary_factor", share);
  }
  const auto rotary_dim = static_cast<std::int32_t>(std::clamp(share, 0.0, 1.0) * model.head_dim);
  if (rotary_dim < 2 || rotary_dim % 2 != 0) config.fail("partial_rotary_factor", "gives an impossible size");
  if (config.error()) return;
  const double theta = config.number_or("rope_theta", config.number_or("rotary_emb_base", 10000.0));
  model.ropes = {rope_from_hugging_face(config, parameters, rotary_dim, theta)};
}

void rope_of_all_layers_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint,
                                  ModelDescription& model) {
  const std::int32_t rotary_dim = keys.positive_or("rope.dimension_count", model.head_dim);
  if (rotary_dim % 2 != 0 || rotary_dim > model.head_dim)
    keys.fail("rope.dimension_count", "exceeds head_dim or is odd");
  if (keys.error()) return;
  model.ropes = {rope_from_gguf(keys, checkpoint, rotary_dim)};
}

TensorNames llama_hugging_face_names() {
  const std::string layer = "model.layers.{}.";
  TensorNames names;
  names.embedding = "model.embed_tokens.weight";
  names.final_norm = "model.norm.weight";
  names.head = "lm_head.weight";
  names.attention_norm = layer + "input_layernorm.weight";
  names.q = layer + "self_attn.q_proj.weight";
  names.k = layer + "self_attn.k_proj.weight";
  names.v = layer + "self_attn.v_proj.weight";
  names.attention_output = layer + "self_attn.o_proj.weight";
  names.ffn_norm = layer + "post_attention_layernorm.weight";
  names.gate = layer + "mlp.gate_proj.weight";
  names.up = layer + "mlp.up_proj.weight";
  names.down = layer + "mlp.down_proj.weight";
  return names;
}

TensorNames llama_gguf_names() {
  const std::string layer = "blk.{}.";
  TensorNames names;
  names.embedding = "token_embd.weight";
  names.final_norm = "output_norm.weight";
  names.head = "output.weight";
  names.attention_norm = layer + "attn_norm.weight";
  names.q = layer + "attn_q.weight";
  names.k = layer + "attn_k.weight";
  names.v = layer + "attn_v.weight";
  names.attention_output = layer + "attn_output.weight";
  names.ffn_norm = layer + "ffn_norm.weight";
  names.gate = layer + "ffn_gate.weight";
  names.up = layer + "ffn_up.weight";
  names.down = layer + "ffn_down.weight";
  return names;
}

}  // namespace trireme::model
