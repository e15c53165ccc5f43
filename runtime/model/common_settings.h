// Settings and tensor names that decoder architectures share, in both formats' spellings. Used by architectures/*.cc.
#pragma once

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/model/metadata_reader.h"
#include "runtime/model/model_description.h"

namespace trireme::model {

// Sizes, norm_epsilon, max_positions, attention_scale = 1 / sqrt(head_dim), and one LayerSpec per layer.
ModelDescription common_from_hugging_face(MetadataReader& config);
ModelDescription common_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint);

// The rotary embedding of `theta` with the scaling that the metadata asks for; an unknown kind of scaling is an error.
// `parameters`: the object with rope_type, factor, … (rope_parameters, rope_scaling), or null.
RopeSpec rope_from_hugging_face(MetadataReader& config, const nlohmann::json* parameters, std::int32_t rotary_dim,
                                double default_theta);
RopeSpec rope_from_gguf(MetadataReader& keys, const checkpoint::Checkpoint& checkpoint, std::int32_t rotary_dim);

TensorNames llama_hugging_face_names();
TensorNames llama_gguf_names();

}  // namespace trireme::model
