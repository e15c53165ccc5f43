// GPT-NeoX (Black et al. 2022; Pythia): both halves of a layer read its input, rotary embedding of a part of each head,
// LayerNorm, plain GELU, q, k and v in one tensor.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

constexpr HuggingFaceKeys kKeys = {.norm_epsilon = "layer_norm_eps", .default_activation = "gelu"};

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config, kKeys);
  rope_of_all_layers_from_hugging_face(config, model);
  model.norm_kind = NormKind::kLayer;
  model.gated = false;
  model.parallel_residual = config.flag_or("use_parallel_residual", true);
  model.fused_qkv_order = FusedQkvOrder::kByHead;
  if (model.num_kv_heads != model.num_heads) config.fail("num_key_value_heads", "must be num_attention_heads");
  const std::string layer = "gpt_neox.layers.{}.";
  TensorNames& names = model.names;
  names.embedding = "gpt_neox.embed_in.weight";
  names.final_norm = "gpt_neox.final_layer_norm.weight";
  names.head = "embed_out.weight";
  names.attention_norm = layer + "input_layernorm.weight";
  names.qkv = layer + "attention.query_key_value.weight";
  names.attention_output = layer + "attention.dense.weight";
  names.ffn_norm = layer + "post_attention_layernorm.weight";
  names.up = layer + "mlp.dense_h_to_4h.weight";
  names.down = layer + "mlp.dense_4h_to_h.weight";
  return model;
}

ModelDescription from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint) {
  ModelDescription model = common_from_gguf(keys, checkpoint);
  rope_of_all_layers_from_gguf(keys, checkpoint, model);
  model.norm_kind = NormKind::kLayer;
  model.activation = kernels::Activation::kGeluErf;
  model.gated = false;
  model.parallel_residual = keys.flag_or("use_parallel_residual", true);
  model.names = llama_gguf_names();
  model.names.qkv = "blk.{}.attn_qkv.weight";
  return model;
}

}  // namespace

const Architecture kGptNeoX = {"gpt_neox", "gptneox", from_hugging_face, from_gguf};

}  // namespace trireme::model
