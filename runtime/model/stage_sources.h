// Which parts of a checkpoint make up each packed matrix of a stage, by the model's description alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/model/matrix_source.h"
#include "runtime/model/model_description.h"

namespace trireme::model {

// Which part of a model a stage holds: layers [begin_layer, end_layer), the embedding if first, final norm and head if
// last.
struct StageSpec {
  std::int32_t begin_layer = 0;
  std::int32_t end_layer = 0;
  bool first = true;
  bool last = true;
};

// The pattern with the layer in place of "{}".
std::string layer_tensor(const std::string& pattern, std::int32_t layer);

MatrixSource embedding_source(const ModelDescription& model);
MatrixSource position_source(const ModelDescription& model);  // of models with learned positions
MatrixSource head_source(const ModelDescription& model);
MatrixSource qkv_source(const ModelDescription& model, std::int32_t layer);  // [q; k; v]
MatrixSource attention_output_source(const ModelDescription& model, std::int32_t layer);
MatrixSource gate_up_source(const ModelDescription& model, std::int32_t layer);  // [gate; up], or up alone
MatrixSource down_source(const ModelDescription& model, std::int32_t layer);
MatrixSource router_source(const ModelDescription& model, std::int32_t layer);
MatrixSource expert_gate_up_source(const ModelDescription& model, std::int32_t layer, std::int32_t expert);
MatrixSource expert_down_source(const ModelDescription& model, std::int32_t layer, std::int32_t expert);

// Whether embedding and head are the same matrix on this stage.
bool shares_embedding(const ModelDescription& model, const StageSpec& stage);

// Every matrix of a stage, in the order in which they are loaded: embedding, positions, layers, head.
std::vector<MatrixSource> stage_sources(const ModelDescription& model, const StageSpec& stage);

}  // namespace trireme::model
