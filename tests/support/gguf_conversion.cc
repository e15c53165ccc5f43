#include "tests/support/gguf_conversion.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/model/architecture.h"
#include "runtime/model/rope_frequencies.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/golden.h"

namespace trireme::test {
namespace {

using nlohmann::json;
using Renamings = std::vector<std::pair<std::string, std::string>>;

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  std::int64_t row_size() const { return shape.size() == 1 ? 1 : shape.back(); }
};

const std::map<std::string, std::string>& gguf_names() {
  static const std::map<std::string, std::string> kNames = {
      {"llama", "llama"},      {"mistral", "llama"}, {"qwen2", "qwen2"},   {"qwen3", "qwen3"},
      {"phi3", "phi3"},        {"olmo2", "olmo2"},   {"gemma2", "gemma2"}, {"gemma3_text", "gemma3"},
      {"gpt_neox", "gptneox"}, {"gpt2", "gpt2"},     {"mixtral", "llama"}, {"qwen3_moe", "qwen3moe"}};
  return kNames;
}

// The first that fits a part of the name takes its place; more than one may.
Renamings renamings(const std::string& type) {
  Renamings all = {{"model.embed_tokens", "token_embd"},
                   {"transformer.wte", "token_embd"},
                   {"transformer.wpe", "position_embd"},
                   {"gpt_neox.embed_in", "token_embd"},
                   {"model.norm", "output_norm"},
                   {"transformer.ln_f", "output_norm"},
                   {"gpt_neox.final_layer_norm", "output_norm"},
                   {"lm_head", "output"},
                   {"embed_out", "output"},
                   {"gpt_neox.layers.", "blk."},
                   {"model.layers.", "blk."},
                   {"transformer.h.", "blk."},
                   {"self_attn.q_proj", "attn_q"},
                   {"self_attn.k_proj", "attn_k"},
                   {"self_attn.v_proj", "attn_v"},
                   {"self_attn.qkv_proj", "attn_qkv"},
                   {"attention.query_key_value", "attn_qkv"},
                   {"attn.c_attn", "attn_qkv"},
                   {"self_attn.o_proj", "attn_output"},
                   {"attention.dense", "attn_output"},
                   {"attn.c_proj", "attn_output"},
                   {"self_attn.q_norm", "attn_q_norm"},
                   {"self_attn.k_norm", "attn_k_norm"},
                   {"input_layernorm", "attn_norm"},
                   {"ln_1", "attn_norm"},
                   {"ln_2", "ffn_norm"},
                   {"pre_feedforward_layernorm", "ffn_norm"},
                   {"post_feedforward_layernorm", "post_ffw_norm"},
                   {"block_sparse_moe.gate.", "ffn_gate_inp."},
                   {"mlp.gate.", "ffn_gate_inp."},
                   {"mlp.gate_proj", "ffn_gate"},
                   {"mlp.gate_up_proj", "ffn_up"},
                   {"mlp.up_proj", "ffn_up"},
                   {"mlp.dense_h_to_4h", "ffn_up"},
                   {"mlp.c_fc", "ffn_up"},
                   {"mlp.down_proj", "ffn_down"},
                   {"mlp.dense_4h_to_h", "ffn_down"},
                   {"mlp.c_proj", "ffn_down"}};
  const bool post_norms = type == "olmo2" || type.starts_with("gemma");
  all.emplace_back("post_attention_layernorm", post_norms ? "post_attention_norm" : "ffn_norm");
  return all;
}

std::string renamed(std::string name, const Renamings& renamings) {
  for (const auto& [from, to] : renamings) {
    const std::size_t place = name.find(from);
    if (place != std::string::npos) name.replace(place, from.size(), to);
  }
  return name;
}

// Row `row` of the result is row order(row) of the tensor.
template <typename Order>
void reorder_rows(Tensor& tensor, const Order& order) {
  const std::vector<float> before = tensor.values;
  const std::int64_t size = tensor.row_size();
  for (std::int64_t row = 0; row < tensor.shape[0]; ++row) {
    std::copy_n(before.begin() + order(row) * size, size, tensor.values.begin() + row * size);
  }
}

// Half-split pairs of each head become neighbours.
void interleave(Tensor& tensor, std::int64_t num_heads) {
  const std::int64_t head_dim = tensor.shape[0] / num_heads;
  reorder_rows(tensor, [&](std::int64_t row) {
    const std::int64_t in_head = row % head_dim;
    return row - in_head + in_head / 2 + in_head % 2 * (head_dim / 2);
  });
}

// [head, q k v, head_dim] becomes [q k v, head, head_dim].
void stack_qkv(Tensor& tensor, std::int64_t num_heads) {
  const std::int64_t part = tensor.shape[0] / 3, head_dim = part / num_heads;
  reorder_rows(tensor, [&](std::int64_t row) {
    return row % part / head_dim * 3 * head_dim + row / part * head_dim + row % head_dim;
  });
}

void transpose(Tensor& tensor) {
  const std::int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  const std::vector<float> before = tensor.values;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    tensor.values[static_cast<std::size_t>(i % columns * rows + i / columns)] = before[static_cast<std::size_t>(i)];
  }
  tensor.shape = {columns, rows};
}

bool contains(const std::string& name, const std::string& part) {
  return name.find(part) != std::string::npos;
}

void adapt(const std::string& name, const json& config, Tensor& tensor) {
  const std::string type = config["model_type"];
  if (gguf_names().at(type) == "llama") {
    if (contains(name, "attn_q.")) interleave(tensor, config["num_attention_heads"]);
    if (contains(name, "attn_k.")) interleave(tensor, config["num_key_value_heads"]);
  }
  if (type.starts_with("gemma") && contains(name, "norm")) {
    for (float& value : tensor.values) value += 1.0f;
  }
  if (type == "gpt_neox" && contains(name, "attn_qkv")) stack_qkv(tensor, config["num_attention_heads"]);
  if (type == "gpt2" && name.starts_with("blk.") && tensor.shape.size() == 2) transpose(tensor);
}

std::uint32_t setting(const json& config, const std::string& key, const std::string& gpt2_key) {
  const auto found = config.find(config.contains(key) ? key : gpt2_key);
  if (found == config.end()) throw std::runtime_error("no setting " + key);
  return found->get<std::uint32_t>();
}

// The rotary base, which may be that of one type of layer.
float rope_theta(const json& rope) {
  return rope.contains("full_attention") ? rope["full_attention"]["rope_theta"].get<float>()
                                         : rope["rope_theta"].get<float>();
}

void add_settings(const json& config, GgufWriter& writer) {
  const std::string arch = gguf_names().at(config["model_type"]), prefix = arch + ".";
  const std::uint32_t hidden_size = setting(config, "hidden_size", "n_embd");
  const std::uint32_t num_heads = setting(config, "num_attention_heads", "n_head");
  const std::uint32_t head_dim = config.contains("head_dim") && !config["head_dim"].is_null()
                                     ? config["head_dim"].get<std::uint32_t>()
                                     : hidden_size / num_heads;
  writer.add_string("general.architecture", arch);
  writer.add_u32(prefix + "block_count", setting(config, "num_hidden_layers", "n_layer"));
  writer.add_u32(prefix + "context_length", setting(config, "max_position_embeddings", "n_positions"));
  writer.add_u32(prefix + "embedding_length", hidden_size);
  writer.add_u32(prefix + "feed_forward_length", config.value("intermediate_size", 4 * hidden_size));
  writer.add_u32(prefix + "attention.head_count", num_heads);
  if (config.contains("num_key_value_heads")) {
    writer.add_u32(prefix + "attention.head_count_kv", config["num_key_value_heads"]);
  }
  writer.add_u32(prefix + "attention.key_length", head_dim);
  writer.add_u32(prefix + "attention.value_length", head_dim);
  for (const char* key : {"layer_norm_eps", "layer_norm_epsilon"}) {
    if (config.contains(key)) writer.add_f32(prefix + "attention.layer_norm_epsilon", config[key]);
  }
  if (config.contains("rms_norm_eps")) {
    writer.add_f32(prefix + "attention.layer_norm_rms_epsilon", config["rms_norm_eps"]);
  }
  if (config.contains("sliding_window") && config["sliding_window"].is_number()) {
    writer.add_u32(prefix + "attention.sliding_window", config["sliding_window"]);
  }
  if (config.contains("use_parallel_residual")) {
    writer.add_bool(prefix + "use_parallel_residual", config["use_parallel_residual"]);
  }
  if (config.contains("num_local_experts")) {
    writer.add_u32(prefix + "expert_count", config["num_local_experts"]);
    writer.add_u32(prefix + "expert_used_count", config["num_experts_per_tok"]);
  }
  if (config.contains("moe_intermediate_size")) {
    writer.add_u32(prefix + "expert_feed_forward_length", config["moe_intermediate_size"]);
  }
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (config.contains(key) && config[key].is_number()) writer.add_f32(prefix + key, config[key]);
  }
  if (!config.contains("rope_parameters")) return;
  const json& rope = config["rope_parameters"];
  writer.add_f32(prefix + "rope.freq_base", rope_theta(rope));
  const auto rotary_dim = static_cast<std::uint32_t>(head_dim * rope.value("partial_rotary_factor", 1.0));
  writer.add_u32(prefix + "rope.dimension_count", rotary_dim);
}

// Llama 3's scaling of the rotary frequencies, which GGUF knows as what they are divided by.
void add_rope_divisors(const checkpoint::Checkpoint& checkpoint, GgufWriter& writer) {
  const json& config = checkpoint.metadata();
  if (!config.contains("rope_parameters") || config["rope_parameters"].value("rope_type", "") != "llama3") return;
  const model::ModelDescription description = model::describe_model(checkpoint).value();
  const model::RopeSpec& rope = description.ropes[0];
  std::vector<float> divisors = model::rope_frequencies(rope.rotary_dim, rope_theta(config["rope_parameters"]));
  for (std::size_t i = 0; i < divisors.size(); ++i) divisors[i] /= rope.inverse_frequencies[i];
  const auto size = static_cast<std::int64_t>(divisors.size());
  writer.add_tensor(make_tensor("rope_freqs.weight", checkpoint::TensorType::kF32, {size}, divisors));
}

// The experts' tensors of one layer and kind, one above the other.
using ExpertStacks = std::map<std::string, Tensor>;

// Takes the tensor into its stack if it is an expert's. Experts come in order as long as there are at most ten.
bool stack_expert(const std::string& name, const Tensor& tensor, ExpertStacks& stacks) {
  const std::size_t place = name.find("experts.");
  if (place == std::string::npos) return false;
  static const std::map<std::string, std::string> kKinds = {
      {"w1", "gate"}, {"w2", "down"}, {"w3", "up"}, {"gate_proj", "gate"}, {"up_proj", "up"}, {"down_proj", "down"}};
  const std::string of_expert = name.substr(place);  // experts.E.KIND.weight
  const std::size_t kind_begin = of_expert.find('.', 8) + 1;
  const std::string kind = of_expert.substr(kind_begin, of_expert.find('.', kind_begin) - kind_begin);
  const std::string layer = name.substr(0, name.find('.', 4));  // blk.N
  Tensor& stack = stacks[layer + ".ffn_" + kKinds.at(kind) + "_exps.weight"];
  if (stack.shape.empty()) stack.shape = {0, tensor.shape[0], tensor.shape[1]};
  ++stack.shape[0];
  stack.values.insert(stack.values.end(), tensor.values.begin(), tensor.values.end());
  return true;
}

}  // namespace

bool gguf_knows(const std::string& model) {
  const auto checkpoint = checkpoint::Checkpoint::open(golden_model(model)).value();
  return gguf_names().contains(checkpoint->metadata()["model_type"]);
}

void write_as_gguf(const std::string& model, const std::filesystem::path& file) {
  const auto checkpoint = checkpoint::Checkpoint::open(golden_model(model)).value();
  const json& config = checkpoint->metadata();
  GgufWriter writer;
  add_settings(config, writer);
  const Renamings renames = renamings(config["model_type"]);
  ExpertStacks stacks;
  for (const checkpoint::TensorInfo& info : checkpoint->tensors()) {
    Tensor tensor{info.shape, std::vector<float>(static_cast<std::size_t>(info.num_rows() * info.row_size()))};
    checkpoint::Checkpoint::read_rows(info, 0, info.num_rows(), tensor.values.data());
    const std::string name = renamed(info.name, renames);
    if (stack_expert(name, tensor, stacks)) continue;
    adapt(name, config, tensor);
    writer.add_tensor(make_tensor(name, checkpoint::TensorType::kF32, tensor.shape, tensor.values));
  }
  for (const auto& [name, stack] : stacks) {
    writer.add_tensor(make_tensor(name, checkpoint::TensorType::kF32, stack.shape, stack.values));
  }
  add_rope_divisors(*checkpoint, writer);
  writer.write(file);
}

}  // namespace trireme::test
