// Llama (Touvron et al. 2023; Llama 3 rope scaling; SmolLM2): pre-norm, grouped queries, gated SiLU, optional biases.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config);
  const std::string activation = config.text_or("hidden_act", "silu");
  if (activation != "silu") config.fail("hidden_act", "'" + activation + "' is not supported for llama");
  const nlohmann::json* rope = config.find("rope_parameters");
  if (rope == nullptr) rope = config.find("rope_scaling");
  model.ropes = {rope_from_hugging_face(config, rope, model.head_dim, config.number_or("rope_theta", 10000.0))};
  model.names = llama_hugging_face_names();
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  const std::int32_t rotary_dim = keys.positive_or("rope.dimension_count", model.head_dim);
  if (rotary_dim % 2 != 0 || rotary_dim > model.head_dim)
    keys.fail("rope.dimension_count", "exceeds head_dim or is odd");
  if (keys.error()) return model;
  model.ropes = {rope_from_gguf(keys, checkpoint, rotary_dim)};
  model.rotary_row_order = RotaryRowOrder::kInterleaved;
  model.names = llama_gguf_names();
  return model;
}

}  // namespace

const Architecture kLlama = {"llama", "llama", from_hugging_face, from_gguf};

}  // namespace trireme::model
