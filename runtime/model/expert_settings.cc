#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

void finish_experts(MetadataReader& reader, ModelDescription& model) {
  constexpr std::int32_t kMaxExperts = 65536;
  const ExpertSpec& experts = model.experts;
  if (experts.num_experts > kMaxExperts) reader.fail("number of experts", "is implausibly large");
  if (experts.num_chosen > experts.num_experts) reader.fail("number of experts per token", "exceeds that of experts");
  for (LayerSpec& layer : model.layers) layer.experts = true;
}

}  // namespace

void experts_from_hugging_face(MetadataReader& config, const ExpertKeys& keys, ModelDescription& model) {
  ExpertSpec& experts = model.experts;
  const bool newer = config.find("num_local_experts") != nullptr;
  experts.num_experts = config.positive(newer ? "num_local_experts" : "num_experts");
  experts.num_chosen = config.positive("num_experts_per_tok");
  experts.intermediate_size = config.positive(keys.intermediate_size);
  experts.renormalise = config.flag_or("norm_topk_prob", keys.renormalise_by_default);
  finish_experts(config, model);
}

void experts_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint, ModelDescription& model) {
  if (keys.number_or("expert_count", 0.0) == 0.0) return;
  ExpertSpec& experts = model.experts;
  experts.num_experts = keys.positive("expert_count");
  experts.num_chosen = keys.positive("expert_used_count");
  experts.intermediate_size = keys.positive_or("expert_feed_forward_length", model.intermediate_size);
  finish_experts(keys, model);
  const bool one_each = checkpoint.find("blk.0.ffn_gate.0.weight") != nullptr;
  const std::string suffix = one_each ? ".{e}.weight" : "_exps.weight";
  model.names.router = "blk.{}.ffn_gate_inp.weight";
  model.names.expert_gate = "blk.{}.ffn_gate" + suffix;
  model.names.expert_up = "blk.{}.ffn_up" + suffix;
  model.names.expert_down = "blk.{}.ffn_down" + suffix;
}

}  // namespace trireme::model
