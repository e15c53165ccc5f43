// GPT-Neo (Black et al. 2021): GPT-2 with local attention in some layers, scores that are not scaled, and Linears
// stored as usual. GGUF does not know it.
#include "runtime/model/architecture.h"
#include "runtime/model/common_settings.h"

namespace trireme::model {
namespace {

constexpr HuggingFaceKeys kKeys = {.num_heads = "num_heads",
                                   .num_layers = "num_layers",
                                   .norm_epsilon = "layer_norm_epsilon",
                                   .activation = "activation_function",
                                   .default_activation = "gelu_new",
                                   .default_intermediate_factor = 4,
                                   .tied_by_default = true};

// "attention_layers" lists each layer's kind; the older "attention_types" is a list of [kinds, how often].
std::vector<std::string> attention_kinds(MetadataReader& config) {
  std::vector<std::string> kinds;
  const nlohmann::json* layers = config.find("attention_layers");
  try {
    if (layers != nullptr) return layers->get<std::vector<std::string>>();
    const nlohmann::json* types = config.find("attention_types");
    constexpr std::size_t kMaxKinds = 100'000;
    for (const nlohmann::json& type : types == nullptr ? nlohmann::json::array() : *types) {
      const auto pattern = type.at(0).get<std::vector<std::string>>();
      for (int i = 0; i < type.at(1).get<int>() && kinds.size() < kMaxKinds && !pattern.empty(); ++i) {
        kinds.insert(kinds.end(), pattern.begin(), pattern.end());
      }
    }
  } catch (const nlohmann::json::exception&) {
    config.fail("attention_layers", "or attention_types is malformed");
  }
  return kinds;
}

void set_layers(MetadataReader& config, ModelDescription& model) {
  const std::int32_t window = config.positive_or("window_size", 256);
  const std::vector<std::string> kinds = attention_kinds(config);
  if (kinds.size() != model.layers.size()) config.fail("attention_layers", "must list one kind per layer");
  if (config.error()) return;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != "local" && kinds[i] != "global") config.fail("attention_layers", "holds an unknown kind of layer");
    model.layers[i] = {kinds[i] == "local" ? window : 0, kNoRope};
  }
}

ModelDescription from_hugging_face(MetadataReader& config, const checkpoint::Checkpoint&) {
  ModelDescription model = common_from_hugging_face(config, kKeys);
  set_layers(config, model);
  model.norm_kind = NormKind::kLayer;
  model.gated = false;
  model.attention_scale = 1.0f;
  const std::string layer = "transformer.h.{}.";
  TensorNames& names = model.names;
  names.embedding = "transformer.wte.weight";
  names.positions = "transformer.wpe.weight";
  names.final_norm = "transformer.ln_f.weight";
  names.head = "lm_head.weight";
  names.attention_norm = layer + "ln_1.weight";
  names.q = layer + "attn.attention.q_proj.weight";
  names.k = layer + "attn.attention.k_proj.weight";
  names.v = layer + "attn.attention.v_proj.weight";
  names.attention_output = layer + "attn.attention.out_proj.weight";
  names.ffn_norm = layer + "ln_2.weight";
  names.up = layer + "mlp.c_fc.weight";
  names.down = layer + "mlp.c_proj.weight";
  return model;
}

}  // namespace

const Architecture kGptNeo = {"gpt_neo", "", from_hugging_face, nullptr};

}  // namespace trireme::model
