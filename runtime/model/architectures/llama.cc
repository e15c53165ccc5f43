// Llama (Touvron et al. 2023; Llama 3 rope scaling; SmolLM2): pre-norm, grouped queries, gated SiLU, optional biases.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  model.names = llama_hugging_face_names();
  return model;
}

// Mistral and Mixtral go by this name, too.
ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  windows_from_gguf(keys, model);
  model.rotary_row_order = RotaryRowOrder::kInterleaved;
  model.names = llama_gguf_names();
  experts_from_gguf(keys, checkpoint, model);
  return model;
}

}  // namespace

const Architecture kLlama = {"llama", "llama", from_hugging_face, from_gguf};

}  // namespace trireme::model
