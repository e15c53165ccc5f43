// GPT-2 (Radford et al. 2019): learned positions, LayerNorm, plain GELU, biases everywhere, Linears stored transposed.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

constexpr HuggingFaceKeys kKeys = {.hidden_size = "n_embd",
                                   .intermediate_size = "n_inner",
                                   .num_heads = "n_head",
                                   .num_layers = "n_layer",
                                   .max_positions = "n_positions",
                                   .norm_epsilon = "layer_norm_epsilon",
                                   .activation = "activation_function",
                                   .default_activation = "gelu_new",
                                   .default_intermediate_factor = 4,
                                   .tied_by_default = true};

void set_common(ModelDescription& model) {
  model.norm_kind = NormKind::kLayer;
  model.gated = false;
  for (LayerSpec& layer : model.layers) layer.rope = kNoRope;
}

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_hugging_face(config, kKeys);
  set_common(model);
  if (config.flag_or("scale_attn_by_inverse_layer_idx", false)) {
    config.fail("scale_attn_by_inverse_layer_idx", "is not supported");
  }
  if (!config.flag_or("scale_attn_weights", true)) model.attention_scale = 1.0f;
  model.transposed_linears = true;
  // The first checkpoints lack the prefix.
  const std::string prefix = checkpoint.find("wte.weight") != nullptr ? "" : "transformer.";
  const std::string layer = prefix + "h.{}.";
  TensorNames& names = model.names;
  names.embedding = prefix + "wte.weight";
  names.positions = prefix + "wpe.weight";
  names.final_norm = prefix + "ln_f.weight";
  names.head = "lm_head.weight";
  names.attention_norm = layer + "ln_1.weight";
  names.qkv = layer + "attn.c_attn.weight";
  names.attention_output = layer + "attn.c_proj.weight";
  names.ffn_norm = layer + "ln_2.weight";
  names.up = layer + "mlp.c_fc.weight";
  names.down = layer + "mlp.c_proj.weight";
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  set_common(model);
  model.activation = kernels::Activation::kGeluTanh;
  model.names = llama_gguf_names();
  model.names.positions = "position_embd.weight";
  model.names.qkv = "blk.{}.attn_qkv.weight";
  return model;
}

}  // namespace

const Architecture kGpt2 = {"gpt2", "gpt2", from_hugging_face, from_gguf};

}  // namespace trireme::model
