// Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases on q, k and v, and windows in the upper layers of some.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  windows_from_hugging_face(config, model);
  model.names = llama_hugging_face_names();
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  model.names = llama_gguf_names();
  return model;
}

}  // namespace

const Architecture kQwen2 = {"qwen2", "qwen2", from_hugging_face, from_gguf};

}  // namespace trireme::model
