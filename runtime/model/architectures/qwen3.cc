// Qwen 3 (Yang et al. 2025): Llama with a norm over each head of q and k.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  windows_from_hugging_face(config, model);
  model.names = llama_hugging_face_names();
  model.names.q_norm = "model.layers.{}.self_attn.q_norm.weight";
  model.names.k_norm = "model.layers.{}.self_attn.k_norm.weight";
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  model.names = llama_gguf_names();
  model.names.q_norm = "blk.{}.attn_q_norm.weight";
  model.names.k_norm = "blk.{}.attn_k_norm.weight";
  return model;
}

}  // namespace

const Architecture kQwen3 = {"qwen3", "qwen3", from_hugging_face, from_gguf};

}  // namespace trireme::model
