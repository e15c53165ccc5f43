// OLMo 2 (OLMo Team 2024): norms after each half of a layer instead of before, and over all heads of q and of k.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

void set_common(ModelDescription& model) {
  model.qk_norm_group = QkNormGroup::kAllHeads;
  model.names.attention_norm = model.names.ffn_norm = "";
}

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  model.names = llama_hugging_face_names();
  model.names.q_norm = "model.layers.{}.self_attn.q_norm.weight";
  model.names.k_norm = "model.layers.{}.self_attn.k_norm.weight";
  model.names.post_attention_norm = "model.layers.{}.post_attention_layernorm.weight";
  model.names.post_ffn_norm = "model.layers.{}.post_feedforward_layernorm.weight";
  set_common(model);
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  if (keys.find("attention.sliding_window") != nullptr) {
    keys.fail("attention.sliding_window", "(OLMo 3) is not supported");
  }
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  model.names = llama_gguf_names();
  model.names.q_norm = "blk.{}.attn_q_norm.weight";
  model.names.k_norm = "blk.{}.attn_k_norm.weight";
  model.names.post_attention_norm = "blk.{}.post_attention_norm.weight";
  model.names.post_ffn_norm = "blk.{}.post_ffw_norm.weight";
  set_common(model);
  return model;
}

}  // namespace

const Architecture kOlmo2 = {"olmo2", "olmo2", from_hugging_face, from_gguf};

}  // namespace trireme::model
