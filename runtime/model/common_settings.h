// Settings and tensor names that decoder architectures share, in both formats' spellings. Used by architectures/*.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/model/metadata_reader.h"
#include "runtime/model/model_description.h"

namespace trireme::model {

// How an architecture's config.json spells the settings that all have, and what it leaves out.
struct HuggingFaceKeys {
  std::string_view hidden_size = "hidden_size";
  std::string_view intermediate_size = "intermediate_size";
  std::string_view num_heads = "num_attention_heads";
  std::string_view num_layers = "num_hidden_layers";
  std::string_view max_positions = "max_position_embeddings";
  std::string_view norm_epsilon = "rms_norm_eps";
  std::string_view activation = "hidden_act";
  std::string_view default_activation = "silu";
  std::int32_t default_intermediate_factor = 0;  // of hidden_size, where intermediate_size may be missing
  bool tied_by_default = false;
};

// Sizes, norm_epsilon, max_positions, activation, attention_scale = 1 / sqrt(head_dim), and one LayerSpec per layer.
ModelDescription common_from_hugging_face(MetadataReader& config, const HuggingFaceKeys& keys = {});
// The same but for the activation.
ModelDescription common_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint);

// By its name under `key`; one that is not known is an error.
kernels::Activation activation_from_hugging_face(MetadataReader& config, std::string_view key,
                                                 std::string_view default_name);

// Sliding windows by layer_types, or from max_window_layers on, or in all layers; none without sliding_window.
void windows_from_hugging_face(MetadataReader& config, ModelDescription& model);
// Whether each layer slides, by layer_types; empty if the key is missing.
std::vector<bool> sliding_layers(MetadataReader& config, const ModelDescription& model);
// attention.sliding_window for all layers; missing or 0: none.
void windows_from_gguf(MetadataReader& keys, ModelDescription& model);

// The one rotary embedding of all layers; it may turn only a part of each head.
void rope_of_all_layers_from_hugging_face(MetadataReader& config, ModelDescription& model);
void rope_of_all_layers_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint,
                                  ModelDescription& model);

// The rotary embedding of `theta` with the scaling that the metadata asks for; an unknown kind of scaling is an error.
// `parameters`: the object with rope_type, factor, … (rope_parameters, rope_scaling), or null.
RopeSpec rope_from_hugging_face(MetadataReader& config, const nlohmann::json* parameters, std::int32_t rotary_dim,
                                double default_theta);
RopeSpec rope_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint, std::int32_t rotary_dim);

// How a config.json spells a mixture of experts.
struct ExpertKeys {
  std::string_view intermediate_size = "moe_intermediate_size";
  bool renormalise_by_default = true;
};
// Experts in all layers.
void experts_from_hugging_face(MetadataReader& config, const ExpertKeys& keys, ModelDescription& model);
// Experts in all layers, with the tensors' names, if the file has any: [num_experts, …] tensors, or one each (older).
void experts_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint, ModelDescription& model);

TensorNames llama_hugging_face_names();
TensorNames llama_gguf_names();

}  // namespace trireme::model
