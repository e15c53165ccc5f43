// Phi-3 (Abdin et al. 2024): Llama with q, k and v in one tensor, gate and up in another, and a window in some.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  windows_from_hugging_face(config, model);
  model.names = llama_hugging_face_names();
  model.names.qkv = "model.layers.{}.self_attn.qkv_proj.weight";
  model.names.gate_up = "model.layers.{}.mlp.gate_up_proj.weight";
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  if (checkpoint.find("rope_factors_short.weight") != nullptr) {
    keys.fail("rope.scaling", "by tensors rope_factors_short and rope_factors_long is not supported");
  }
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  windows_from_gguf(keys, model);
  model.names = llama_gguf_names();
  model.names.qkv = "blk.{}.attn_qkv.weight";
  model.names.gate_up = "blk.{}.ffn_up.weight";
  return model;
}

}  // namespace

const Architecture kPhi3 = {"phi3", "phi3", from_hugging_face, from_gguf};

}  // namespace trireme::model
