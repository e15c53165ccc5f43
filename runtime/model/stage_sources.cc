#include "runtime/model/stage_sources.h"

#include <string_view>

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

MatrixSource vocabulary_source(const ModelDescription& model, const std::string& tensor, const std::string& name) {
  return {{{tensor, model.vocab_size}}, model.hidden_size, name};
}

std::string in_layer(std::int32_t layer, const std::string& name) {
  return "layers/" + std::to_string(layer) + "/" + name;
}

std::string in_expert(std::int32_t layer, std::int32_t expert, const std::string& name) {
  return in_layer(layer, "experts/" + std::to_string(expert) + "/" + name);
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
            model.hidden_size,
            in_layer(layer, "qkv")};
  }
  return {{layer_part(model, model.names.qkv, layer, model.qkv_rows())}, model.hidden_size, in_layer(layer, "qkv")};
}

std::string with_number(std::string pattern, std::string_view place_holder, std::int32_t number) {
  const std::size_t place = pattern.find(place_holder);
  if (place != std::string::npos) pattern.replace(place, place_holder.size(), std::to_string(number));
  return pattern;
}

struct ExpertPlace {
  std::int32_t layer, expert;
};
struct Shape {
  std::int64_t rows, columns;
};

// A matrix of one expert: a tensor of its own, or some rows of the tensor of all experts.
MatrixPart expert_part(const ModelDescription& model, const std::string& pattern, ExpertPlace place, Shape shape) {
  constexpr std::string_view kExpert = "{e}";
  MatrixPart part;
  part.tensor = layer_tensor(with_number(pattern, kExpert, place.expert), place.layer);
  part.num_rows = shape.rows;
  if (pattern.find(kExpert) == std::string::npos) {
    part.tensor_shape = {model.experts.num_experts, shape.rows, shape.columns};
    part.first_row = place.expert * shape.rows;
  }
  return part;
}

void add_expert_sources(const ModelDescription& model, std::int32_t layer, std::vector<MatrixSource>& sources) {
  sources.push_back(router_source(model, layer));
  for (std::int32_t expert = 0; expert < model.experts.num_experts; ++expert) {
    sources.push_back(expert_gate_up_source(model, layer, expert));
    sources.push_back(expert_down_source(model, layer, expert));
  }
}

}  // namespace

std::string layer_tensor(const std::string& pattern, std::int32_t layer) {
  return with_number(pattern, "{}", layer);
}

MatrixSource embedding_source(const ModelDescription& model) {
  return vocabulary_source(model, model.names.embedding, "embedding");
}

MatrixSource position_source(const ModelDescription& model) {
  return {{{model.names.positions, model.max_positions}}, model.hidden_size, "positions"};
}

MatrixSource head_source(const ModelDescription& model) {
  return model.tied_head ? embedding_source(model) : vocabulary_source(model, model.names.head, "head");
}

MatrixSource qkv_source(const ModelDescription& model, std::int32_t layer) {
  if (!model.names.qkv.empty()) return fused_qkv_source(model, layer);
  MatrixPart q = layer_part(model, model.names.q, layer, model.q_rows());
  MatrixPart k = layer_part(model, model.names.k, layer, model.kv_rows());
  if (model.rotary_row_order == RotaryRowOrder::kInterleaved) {
    q.interleaved_head_dim = k.interleaved_head_dim = model.head_dim;
  }
  return {{q, k, layer_part(model, model.names.v, layer, model.kv_rows())}, model.hidden_size, in_layer(layer, "qkv")};
}

MatrixSource attention_output_source(const ModelDescription& model, std::int32_t layer) {
  return {{layer_part(model, model.names.attention_output, layer, model.hidden_size)},
          model.q_rows(),
          in_layer(layer, "attention_output")};
}

MatrixSource gate_up_source(const ModelDescription& model, std::int32_t layer) {
  const std::string name = in_layer(layer, model.gated ? "gate_up" : "up");
  if (!model.names.gate_up.empty()) {
    return {{layer_part(model, model.names.gate_up, layer, model.gate_up_rows())}, model.hidden_size, name};
  }
  const MatrixPart up = layer_part(model, model.names.up, layer, model.intermediate_size);
  if (!model.gated) return {{up}, model.hidden_size, name};
  return {{layer_part(model, model.names.gate, layer, model.intermediate_size), up}, model.hidden_size, name};
}

MatrixSource down_source(const ModelDescription& model, std::int32_t layer) {
  return {{layer_part(model, model.names.down, layer, model.hidden_size)},
          model.intermediate_size,
          in_layer(layer, "down")};
}

MatrixSource router_source(const ModelDescription& model, std::int32_t layer) {
  return {{layer_part(model, model.names.router, layer, model.experts.num_experts)},
          model.hidden_size,
          in_layer(layer, "router")};
}

MatrixSource expert_gate_up_source(const ModelDescription& model, std::int32_t layer, std::int32_t expert) {
  const std::int64_t size = model.experts.intermediate_size, hidden_size = model.hidden_size;
  return {{expert_part(model, model.names.expert_gate, {layer, expert}, {size, hidden_size}),
           expert_part(model, model.names.expert_up, {layer, expert}, {size, hidden_size})},
          hidden_size,
          in_expert(layer, expert, "gate_up")};
}

MatrixSource expert_down_source(const ModelDescription& model, std::int32_t layer, std::int32_t expert) {
  const std::int64_t size = model.experts.intermediate_size, hidden_size = model.hidden_size;
  return {{expert_part(model, model.names.expert_down, {layer, expert}, {hidden_size, size})},
          size,
          in_expert(layer, expert, "down")};
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
    if (model.layers[static_cast<std::size_t>(layer)].experts) {
      add_expert_sources(model, layer, sources);
      continue;
    }
    sources.push_back(gate_up_source(model, layer));
    sources.push_back(down_source(model, layer));
  }
  if (stage.last && !shares_embedding(model, stage)) sources.push_back(head_source(model));
  return sources;
}

}  // namespace trireme::model
