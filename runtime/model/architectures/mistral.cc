// Mistral (Jiang et al. 2023): Llama with a sliding window in all layers. In GGUF its name is "llama".
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

}  // namespace

const Architecture kMistral = {"mistral", "", from_hugging_face, nullptr};

}  // namespace trireme::model
