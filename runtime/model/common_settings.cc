#include "runtime/model/common_settings.h"

#include <cmath>
#include <string>

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

ModelDescription common_from_hugging_face(MetadataReader& config) {
  ModelDescription model;
  model.vocab_size = config.positive("vocab_size");
  model.hidden_size = config.positive("hidden_size");
  model.intermediate_size = config.positive("intermediate_size");
  model.num_heads = config.positive("num_attention_heads");
  model.num_kv_heads = config.positive_or("num_key_value_heads", model.num_heads);
  model.head_dim = config.positive_or("head_dim", std::max(1, model.hidden_size / model.num_heads));
  model.max_positions = config.positive("max_position_embeddings");
  model.norm_epsilon = static_cast<float>(config.number_or("rms_norm_eps", 1e-6));
  model.tied_head = config.flag_or("tie_word_embeddings", false);
  if (config.find("quantization_config") != nullptr) {
    config.fail("quantization_config", "is not supported: use a checkpoint in f32, f16 or bf16, or a GGUF file");
  }
  finish_common(config, model, config.positive("num_hidden_layers"));
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
  model.norm_epsilon = static_cast<float>(keys.number_or("attention.layer_norm_rms_epsilon", 1e-6));
  model.tied_head = checkpoint.find("output.weight") == nullptr;
  finish_common(keys, model, keys.positive("block_count"));
  return model;
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
  if (divisors->row_size() != rotary_dim / 2 || divisors->num_rows() != 1) {
    keys.fail("rope.dimension_count", "does not fit tensor rope_freqs.weight");
    return rope;
  }
  std::vector<float> values(rope.inverse_frequencies.size());
  checkpoint::Checkpoint::read_rows(*divisors, 0, 1, values.data());
  for (std::size_t i = 0; i < values.size(); ++i) rope.inverse_frequencies[i] /= values[i];
  return rope;
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
