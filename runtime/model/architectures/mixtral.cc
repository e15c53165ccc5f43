// Mixtral (Jiang et al. 2024): Mistral with experts, whose weights are renormalised. In GGUF its name is "llama".
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  windows_from_hugging_face(config, model);
  experts_from_hugging_face(config, {.intermediate_size = "intermediate_size"}, model);
  model.names = llama_hugging_face_names();
  const std::string layer = "model.layers.{}.block_sparse_moe.";
  model.names.router = layer + "gate.weight";
  model.names.expert_gate = layer + "experts.{e}.w1.weight";
  model.names.expert_up = layer + "experts.{e}.w3.weight";
  model.names.expert_down = layer + "experts.{e}.w2.weight";
  return model;
}

}  // namespace

const Architecture kMixtral = {"mixtral", "", from_hugging_face, nullptr};

}  // namespace trireme::model
