#include "runtime/model/stage_sources.h"

namespace trireme::model {
namespace {

MatrixPart layer_part(const ModelDescription& model, const std::string& pattern, std::int32_t layer,
                      std::int64_t num_rows) {
  MatrixPart part;
  part.tensor = layer_tensor(pattern, layer);
  part.num_rows = num_rows;
  part.transposed = model.transposed_linears;
  return part;
}

MatrixSource vocabulary_source(const ModelDescription& model, const std::string& name) {
  return {{{name, model.vocab_size}}, model.hidden_size};
}

// q, k or v out of a tensor that holds them by head.
MatrixPart by_head_part(const ModelDescription& model, std::int32_t layer, std::int64_t index) {
  MatrixPart part = layer_part(model, model.names.qkv, layer, model.q_rows());
  part.tensor_shape = {model.qkv_rows(), model.hidden_size};
  part.head_rows = model.head_dim;
  part.head_stride = 3 * std::int64_t{model.head_dim};
  part.first_row = index * model.head_dim;
  return part;
}

MatrixSource fused_qkv_source(const ModelDescription& model, std::int32_t layer) {
  if (model.fused_qkv_order == FusedQkvOrder::kByHead) {
    return {{by_head_part(model, layer, 0), by_head_part(model, layer, 1), by_head_part(model, layer, 2)},
            model.hidden_size};
  }
  return {{layer_part(model, model.names.qkv, layer, model.qkv_rows())}, model.hidden_size};
}

}  // namespace

std::string layer_tensor(const std::string& pattern, std::int32_t layer) {
  std::string name = pattern;
  const std::size_t place = name.find("{}");
  return place == std::string::npos ? name : name.replace(place, 2, std::to_string(layer));
}

MatrixSource embedding_source(const ModelDescription& model) {
  return vocabulary_source(model, model.names.embedding);
}

MatrixSource position_source(const ModelDescription& model) {
  return {{{model.names.positions, model.max_positions}}, model.hidden_size};
}

MatrixSource head_source(const ModelDescription& model) {
  return vocabulary_source(model, model.tied_head ? model.names.embedding : model.names.head);
}

MatrixSource qkv_source(const ModelDescription& model, std::int32_t layer) {
  if (!model.names.qkv.empty()) return fused_qkv_source(model, layer);
  MatrixPart q = layer_part(model, model.names.q, layer, model.q_rows());
  MatrixPart k = layer_part(model, model.names.k, layer, model.kv_rows());
  if (model.rotary_row_order == RotaryRowOrder::kInterleaved) {
    q.interleaved_head_dim = k.interleaved_head_dim = model.head_dim;
  }
  return {{q, k, layer_part(model, model.names.v, layer, model.kv_rows())}, model.hidden_size};
}

MatrixSource attention_output_source(const ModelDescription& model, std::int32_t layer) {
  return {{layer_part(model, model.names.attention_output, layer, model.hidden_size)}, model.q_rows()};
}

MatrixSource gate_up_source(const ModelDescription& model, std::int32_t layer) {
  if (!model.names.gate_up.empty()) {
    return {{layer_part(model, model.names.gate_up, layer, model.gate_up_rows())}, model.hidden_size};
  }
  const MatrixPart up = layer_part(model, model.names.up, layer, model.intermediate_size);
  if (!model.gated) return {{up}, model.hidden_size};
  return {{layer_part(model, model.names.gate, layer, model.intermediate_size), up}, model.hidden_size};
}

MatrixSource down_source(const ModelDescription& model, std::int32_t layer) {
  return {{layer_part(model, model.names.down, layer, model.hidden_size)}, model.intermediate_size};
}

bool shares_embedding(const ModelDescription& model, const StageSpec& stage) {
  return model.tied_head && stage.first && stage.last;
}

std::vector<MatrixSource> stage_sources(const ModelDescription& model, const StageSpec& stage) {
  std::vector<MatrixSource> sources;
  if (stage.first) sources.push_back(embedding_source(model));
  if (stage.first && !model.names.positions.empty()) sources.push_back(position_source(model));
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer; ++layer) {
    sources.push_back(qkv_source(model, layer));
    sources.push_back(attention_output_source(model, layer));
    sources.push_back(gate_up_source(model, layer));
    sources.push_back(down_source(model, layer));
  }
  if (stage.last && !shares_embedding(model, stage)) sources.push_back(head_source(model));
  return sources;
}

}  // namespace trireme::model
