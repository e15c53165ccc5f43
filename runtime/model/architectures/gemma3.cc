// Gemma 3, text (Gemma Team 2025): sliding and full layers with a rotary base each, q/k norm, norms before and after
// both halves of a layer, gated GELU, embeddings scaled by sqrt(hidden_size).
#include <cmath>

#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

constexpr std::int32_t kFullRope = 0, kSlidingRope = 1;
constexpr double kSlidingTheta = 10000.0;

void set_layer(LayerSpec& layer, bool sliding, std::int32_t window) {
  layer.window = sliding ? window : 0;
  layer.rope = sliding ? kSlidingRope : kFullRope;
}

// Every pattern-th layer has full attention.
void set_layers_by_pattern(ModelDescription& model, std::int32_t pattern, std::int32_t window) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    set_layer(model.layers[i], (static_cast<std::int32_t>(i) + 1) % pattern != 0, window);
  }
}

void set_common(ModelDescription& model) {
  model.activation = kernels::Activation::kGeluTanh;
  model.embedding_scale = std::sqrt(static_cast<float>(model.hidden_size));
}

void set_layers(MetadataReader& config, ModelDescription& model) {
  const std::int32_t window = config.positive_or("sliding_window", 4096);
  const nlohmann::json* types = config.find("layer_types");
  if (types == nullptr) {
    set_layers_by_pattern(model, config.positive_or("sliding_window_pattern", 6), window);
    return;
  }
  if (!types->is_array() || types->size() != model.layers.size()) {
    config.fail("layer_types", "must list one type per layer");
    return;
  }
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const bool sliding = (*types)[i] == "sliding_attention";
    if (!sliding && (*types)[i] != "full_attention") config.fail("layer_types", "holds an unknown type of layer");
    set_layer(model.layers[i], sliding, window);
  }
}

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  set_common(model);
  if (!config.flag_or("tie_word_embeddings", true)) config.fail("tie_word_embeddings", "must be true for gemma3");
  model.tied_head = true;
  model.norm_weight_offset = 1.0f;
  const double query_scalar = config.number_or("query_pre_attn_scalar", model.head_dim);
  if (query_scalar <= 0) config.fail("query_pre_attn_scalar", "must be positive");
  model.attention_scale = static_cast<float>(1.0 / std::sqrt(query_scalar));
  model.attention_softcap = static_cast<float>(config.number_or("attn_logit_softcapping", 0.0));
  model.final_softcap = static_cast<float>(config.number_or("final_logit_softcapping", 0.0));
  set_layers(config, model);

  const nlohmann::json* parameters = config.find("rope_parameters");
  const bool by_type = parameters != nullptr && parameters->is_object() && parameters->contains("full_attention");
  const nlohmann::json* full = by_type ? &(*parameters)["full_attention"] : config.find("rope_scaling");
  const nlohmann::json* sliding =
      by_type && parameters->contains("sliding_attention") ? &(*parameters)["sliding_attention"] : nullptr;
  model.ropes = {
      rope_from_hugging_face(config, full, model.head_dim, config.number_or("rope_theta", 1e6)),
      rope_from_hugging_face(config, sliding, model.head_dim, config.number_or("rope_local_base_freq", kSlidingTheta))};

  model.names = llama_hugging_face_names();
  const std::string layer = "model.layers.{}.";
  model.names.q_norm = layer + "self_attn.q_norm.weight";
  model.names.k_norm = layer + "self_attn.k_norm.weight";
  model.names.post_attention_norm = layer + "post_attention_layernorm.weight";
  model.names.ffn_norm = layer + "pre_feedforward_layernorm.weight";
  model.names.post_ffn_norm = layer + "post_feedforward_layernorm.weight";
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  if (keys.error()) return model;
  set_common(model);
  // The 27B model alone scales queries by hidden_size / num_heads; GGUF does not say it otherwise.
  constexpr std::int32_t kLayersOf27B = 62;
  if (model.num_layers() == kLayersOf27B) {
    model.attention_scale = std::sqrt(static_cast<float>(model.num_heads) / static_cast<float>(model.hidden_size));
  }
  set_layers_by_pattern(model, keys.positive_or("attention.sliding_window_pattern", 6),
                        keys.positive("attention.sliding_window"));
  const nlohmann::json plain = {{"rope_theta", keys.number_or("rope.local.freq_base", kSlidingTheta)}};
  const RopeSpec sliding = rope_from_hugging_face(keys, &plain, model.head_dim, kSlidingTheta);
  model.ropes = {rope_from_gguf(keys, checkpoint, model.head_dim), sliding};

  model.names = llama_gguf_names();
  const std::string layer = "blk.{}.";
  model.names.q_norm = layer + "attn_q_norm.weight";
  model.names.k_norm = layer + "attn_k_norm.weight";
  model.names.post_attention_norm = layer + "post_attention_norm.weight";
  model.names.post_ffn_norm = layer + "post_ffw_norm.weight";
  return model;
}

}  // namespace

const Architecture kGemma3 = {"gemma3_text", "gemma3", from_hugging_face, from_gguf};

}  // namespace trireme::model
