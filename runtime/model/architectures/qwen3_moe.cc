// Qwen 3 with experts (Yang et al. 2025); some layers may be dense.
#include <vector>

#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

constexpr ExpertKeys kExpertKeys = {.renormalise_by_default = false};

// Layers listed in mlp_only_layers, and those not at a multiple of decoder_sparse_step, are dense.
void choose_expert_layers(MetadataReader& config, ModelDescription& model) {
  const std::int32_t step = config.positive_or("decoder_sparse_step", 1);
  for (std::int32_t i = 0; i < model.num_layers(); ++i) {
    model.layers[static_cast<std::size_t>(i)].experts = (i + 1) % step == 0;
  }
  const nlohmann::json* dense = config.find("mlp_only_layers");
  if (dense == nullptr) return;
  for (const nlohmann::json& layer : *dense) {
    if (!layer.is_number_unsigned() || layer >= model.layers.size()) {
      config.fail("mlp_only_layers", "must list layers");
      return;
    }
    model.layers[layer.get<std::size_t>()].experts = false;
  }
}

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  rope_of_all_layers_from_hugging_face(config, model);
  windows_from_hugging_face(config, model);
  experts_from_hugging_face(config, kExpertKeys, model);
  choose_expert_layers(config, model);
  model.names = llama_hugging_face_names();
  const std::string layer = "model.layers.{}.";
  model.names.q_norm = layer + "self_attn.q_norm.weight";
  model.names.k_norm = layer + "self_attn.k_norm.weight";
  model.names.router = layer + "mlp.gate.weight";
  model.names.expert_gate = layer + "mlp.experts.{e}.gate_proj.weight";
  model.names.expert_up = layer + "mlp.experts.{e}.up_proj.weight";
  model.names.expert_down = layer + "mlp.experts.{e}.down_proj.weight";
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  model.names = llama_gguf_names();
  model.names.q_norm = "blk.{}.attn_q_norm.weight";
  model.names.k_norm = "blk.{}.attn_k_norm.weight";
  experts_from_gguf(keys, checkpoint, model);
  return model;
}

}  // namespace

const Architecture kQwen3Moe = {"qwen3_moe", "qwen3moe", from_hugging_face, from_gguf};

}  // namespace trireme::model
