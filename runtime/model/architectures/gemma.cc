// Gemma 2 and 3, text (Gemma Team 2024, 2025): sliding and full layers, norms before and after both halves of a layer,
// gated GELU, embeddings scaled by sqrt(hidden_size). Gemma 2 caps attention scores and logits; Gemma 3 norms q and k
// and gives sliding layers a rotary base of their own.
#include <cmath>

#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

constexpr std::int32_t kFullRope = 0, kSlidingRope = 1;
constexpr double kSlidingTheta = 10000.0;

// Every pattern-th layer has full attention.
std::vector<bool> sliding_by_pattern(const ModelDescription& model, std::int32_t pattern) {
  std::vector<bool> sliding;
  for (std::int32_t i = 0; i < model.num_layers(); ++i) sliding.push_back((i + 1) % pattern != 0);
  return sliding;
}

void set_layers(ModelDescription& model, const std::vector<bool>& sliding, std::int32_t window) {
  const std::int32_t sliding_rope = model.ropes.size() > 1 ? kSlidingRope : kFullRope;
  for (std::size_t i = 0; i < sliding.size(); ++i) {
    model.layers[i] = {sliding[i] ? window : 0, sliding[i] ? sliding_rope : kFullRope};
  }
}

void set_layers(MetadataReader& config, ModelDescription& model, std::int32_t default_pattern) {
  std::vector<bool> sliding = sliding_layers(config, model);
  const std::int32_t pattern = config.positive_or("sliding_window_pattern", default_pattern);
  if (sliding.empty()) sliding = sliding_by_pattern(model, pattern);
  set_layers(model, sliding, config.positive_or("sliding_window", 4096));
}

void set_common(ModelDescription& model) {
  model.activation = kernels::Activation::kGeluTanh;
  model.embedding_scale = std::sqrt(static_cast<float>(model.hidden_size));
}

// All but ropes and layers.
ModelDescription gemma_from_hugging_face(MetadataReader& config) {
  constexpr HuggingFaceKeys kKeys = {
      .activation = "hidden_activation", .default_activation = "gelu_pytorch_tanh", .tied_by_default = true};
  ModelDescription model = common_from_hugging_face(config, kKeys);
  set_common(model);
  if (!model.tied_head) config.fail("tie_word_embeddings", "must be true for " + config.text_or("model_type", "gemma"));
  model.norm_weight_offset = 1.0f;
  const double query_scalar = config.number_or("query_pre_attn_scalar", model.head_dim);
  if (query_scalar <= 0) config.fail("query_pre_attn_scalar", "must be positive");
  model.attention_scale = static_cast<float>(1.0 / std::sqrt(query_scalar));
  model.attention_softcap = static_cast<float>(config.number_or("attn_logit_softcapping", 0.0));
  model.final_softcap = static_cast<float>(config.number_or("final_logit_softcapping", 0.0));
  model.names = llama_hugging_face_names();
  const std::string layer = "model.layers.{}.";
  model.names.post_attention_norm = layer + "post_attention_layernorm.weight";
  model.names.ffn_norm = layer + "pre_feedforward_layernorm.weight";
  model.names.post_ffn_norm = layer + "post_feedforward_layernorm.weight";
  return model;
}

// All but ropes and layers. The largest model, known by its number of layers, scales queries by hidden_size /
// num_heads; GGUF does not say it otherwise.
ModelDescription gemma_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint,
                                 std::int32_t layers_of_27b) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  set_common(model);
  if (model.num_layers() == layers_of_27b) {
    model.attention_scale = std::sqrt(static_cast<float>(model.num_heads) / static_cast<float>(model.hidden_size));
  }
  model.names = llama_gguf_names();
  model.names.post_attention_norm = "blk.{}.post_attention_norm.weight";
  model.names.post_ffn_norm = "blk.{}.post_ffw_norm.weight";
  return model;
}

ModelDescription gemma2_from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = gemma_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  set_layers(config, model, 2);
  return model;
}

ModelDescription gemma2_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  constexpr std::int32_t kLayersOf27B = 46;
  ModelDescription model = gemma_from_gguf(keys, checkpoint, kLayersOf27B);
  model.attention_softcap = static_cast<float>(keys.number_or("attn_logit_softcapping", 50.0));
  model.final_softcap = static_cast<float>(keys.number_or("final_logit_softcapping", 30.0));
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  set_layers(model, sliding_by_pattern(model, 2), keys.positive("attention.sliding_window"));
  return model;
}

ModelDescription gemma3_from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = gemma_from_hugging_face(config);
  const nlohmann::json* parameters = config.find("rope_parameters");
  const bool by_type = parameters != nullptr && parameters->is_object() && parameters->contains("full_attention");
  const nlohmann::json* full = by_type ? &(*parameters)["full_attention"] : config.find("rope_scaling");
  const nlohmann::json* sliding =
      by_type && parameters->contains("sliding_attention") ? &(*parameters)["sliding_attention"] : nullptr;
  model.ropes = {
      rope_from_hugging_face(config, full, model.head_dim, config.number_or("rope_theta", 1e6)),
      rope_from_hugging_face(config, sliding, model.head_dim, config.number_or("rope_local_base_freq", kSlidingTheta))};
  set_layers(config, model, 6);
  model.names.q_norm = "model.layers.{}.self_attn.q_norm.weight";
  model.names.k_norm = "model.layers.{}.self_attn.k_norm.weight";
  return model;
}

ModelDescription gemma3_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  constexpr std::int32_t kLayersOf27B = 62;
  ModelDescription model = gemma_from_gguf(keys, checkpoint, kLayersOf27B);
  if (keys.error()) return model;
  const nlohmann::json plain = {{"rope_theta", keys.number_or("rope.local.freq_base", kSlidingTheta)}};
  const RopeSpec sliding = rope_from_hugging_face(keys, &plain, model.head_dim, kSlidingTheta);
  model.ropes = {rope_from_gguf(keys, checkpoint, model.head_dim), sliding};
  const std::int32_t pattern = keys.positive_or("attention.sliding_window_pattern", 6);
  set_layers(model, sliding_by_pattern(model, pattern), keys.positive("attention.sliding_window"));
  model.names.q_norm = "blk.{}.attn_q_norm.weight";
  model.names.k_norm = "blk.{}.attn_k_norm.weight";
  return model;
}

}  // namespace

const Architecture kGemma2 = {"gemma2", "gemma2", gemma2_from_hugging_face, gemma2_from_gguf};
const Architecture kGemma3 = {"gemma3_text", "gemma3", gemma3_from_hugging_face, gemma3_from_gguf};

}  // namespace trireme::model
