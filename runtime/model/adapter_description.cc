#include "runtime/model/adapter_description.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "runtime/model/matrix_source.h"
#include "runtime/model/metadata_reader.h"

namespace trireme::model {
namespace {

constexpr std::string_view kASuffix = ".lora_A.weight";
constexpr std::string_view kBSuffix = ".lora_B.weight";

// Settings that change what an adapter computes, and the values with which they do not.
void refuse_other_methods(MetadataReader& config) {
  if (config.text_or("peft_type", "LORA") != "LORA") config.fail("peft_type", "is not LORA");
  if (config.text_or("bias", "none") != "none") config.fail("bias", "other than none is not supported");
  for (const char* key : {"use_dora", "lora_bias", "use_qalora", "use_bdlora", "fan_in_fan_out"}) {
    if (config.flag_or(key, false)) config.fail(key, "is not supported");
  }
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save", "layer_replication", "target_parameters",
                          "trainable_token_indices", "alora_invocation_tokens"}) {
    const nlohmann::json* value = config.find(key);
    if (value != nullptr && !value->empty()) config.fail(key, "is not supported");
  }
}

// Where a module's outputs lie in which Linear.
struct Place {
  LinearSlot slot;
  std::int64_t first_output, num_outputs;
};

std::optional<Place> place_of(std::string_view module, const ModelDescription& model) {
  const std::int64_t q = model.q_rows(), kv = model.kv_rows(), size = model.intermediate_size;
  if (model.names.qkv.empty()) {
    if (module == "q_proj") return Place{LinearSlot::kQkv, 0, q};
    if (module == "k_proj") return Place{LinearSlot::kQkv, q, kv};
    if (module == "v_proj") return Place{LinearSlot::kQkv, q + kv, kv};
  } else if (module == "qkv_proj" && model.fused_qkv_order == FusedQkvOrder::kStacked) {
    return Place{LinearSlot::kQkv, 0, model.qkv_rows()};
  }
  if (module == "o_proj" || module == "out_proj") return Place{LinearSlot::kAttentionOutput, 0, model.hidden_size};
  if (module == "gate_proj" && model.gated) return Place{LinearSlot::kGateUp, 0, size};
  if (module == "up_proj") return Place{LinearSlot::kGateUp, model.gated ? size : 0, size};
  if (module == "c_fc" && !model.gated) return Place{LinearSlot::kGateUp, 0, size};
  if (module == "gate_up_proj" && model.gated) return Place{LinearSlot::kGateUp, 0, 2 * size};
  if (module == "down_proj") return Place{LinearSlot::kDown, 0, model.hidden_size};
  return std::nullopt;
}

std::int64_t in_features(LinearSlot slot, const ModelDescription& model) {
  switch (slot) {
    case LinearSlot::kQkv:
    case LinearSlot::kGateUp: return model.hidden_size;
    case LinearSlot::kAttentionOutput: return model.q_rows();
    case LinearSlot::kDown: return model.intermediate_size;
  }
  return 0;
}

// The number after ".layers." or ".h.".
std::optional<std::int32_t> layer_in(std::string_view name) {
  for (const std::string_view key : {std::string_view(".layers."), std::string_view(".h.")}) {
    const std::size_t place = name.find(key);
    if (place == std::string_view::npos) continue;
    const char* begin = name.data() + place + key.size();
    std::int32_t layer = -1;
    const auto result = std::from_chars(begin, name.data() + name.size(), layer);
    if (result.ec == std::errc() && layer >= 0 && result.ptr < name.data() + name.size() && *result.ptr == '.') {
      return layer;
    }
  }
  return std::nullopt;
}

base::Error error_at(const checkpoint::TensorInfo& tensor, const std::string& reason) {
  return base::invalid_argument(tensor.file + ": tensor " + tensor.name + " " + reason);
}

base::Result<AdapterTarget> read_target(const checkpoint::Checkpoint& adapter, const checkpoint::TensorInfo& tensor,
                                        const ModelDescription& model, std::int64_t rank) {
  const std::string module = tensor.name.substr(0, tensor.name.size() - kASuffix.size());
  const auto layer = layer_in(module);
  const auto place = place_of(std::string_view(module).substr(module.rfind('.') + 1), model);
  const bool known = layer && *layer < model.num_layers() && place && module.find(".experts.") == std::string::npos;
  const bool dense = known && !model.layers[static_cast<std::size_t>(*layer)].experts;
  const bool attention = known && (place->slot == LinearSlot::kQkv || place->slot == LinearSlot::kAttentionOutput);
  if (!known || !(dense || attention)) return error_at(tensor, "adapts a module that this model has not");
  AdapterTarget target{*layer,
                       place->slot,
                       place->first_output,
                       place->num_outputs,
                       in_features(place->slot, model),
                       tensor.name,
                       module + std::string(kBSuffix)};
  for (const MatrixSource& source :
       {MatrixSource{{{target.a, rank}}, target.in_features}, MatrixSource{{{target.b, target.num_outputs}}, rank}}) {
    if (auto status = check_source(adapter, source); !status) return status.error();
  }
  return target;
}

}  // namespace

std::int64_t AdapterDescription::bytes(std::int32_t begin, std::int32_t end) const {
  std::size_t bytes = 0;
  for (const AdapterTarget& target : targets) {
    if (target.layer >= begin && target.layer < end) bytes += target.aligned_bytes(rank);
  }
  return static_cast<std::int64_t>(bytes);
}

base::Result<AdapterDescription> describe_adapter(const checkpoint::Checkpoint& adapter,
                                                  const ModelDescription& model) {
  MetadataReader config(adapter.metadata(), (adapter.path() / "adapter_config.json").string());
  AdapterDescription description;
  refuse_other_methods(config);
  description.rank = config.positive("r");
  const double alpha = config.number_or("lora_alpha", 8.0);
  const bool stabilised = config.flag_or("use_rslora", false);
  if (config.error()) return *config.error();
  description.scale = static_cast<float>(alpha / (stabilised ? std::sqrt(description.rank) : description.rank));
  std::size_t num_b = 0;
  for (const checkpoint::TensorInfo& tensor : adapter.tensors()) {
    if (tensor.name.ends_with(kBSuffix)) {
      ++num_b;
      continue;
    }
    if (!tensor.name.ends_with(kASuffix)) return error_at(tensor, "is no matrix of a low-rank adapter");
    auto target = read_target(adapter, tensor, model, description.rank);
    if (!target) return target.error();
    description.targets.push_back(std::move(*target));
  }
  if (description.targets.empty() || num_b != description.targets.size()) {
    return base::invalid_argument(adapter.path().string() + ": needs as many matrices A as B, and at least one");
  }
  std::ranges::stable_sort(description.targets, {}, &AdapterTarget::layer);
  return description;
}

}  // namespace trireme::model
