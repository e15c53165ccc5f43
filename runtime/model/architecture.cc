#include "runtime/model/architecture.h"

#include <nlohmann/json.hpp>
#include <string>

namespace trireme::model {
namespace {

std::string_view name_in(const Architecture& architecture, checkpoint::Format format) {
  return format == checkpoint::Format::kGguf ? architecture.gguf_name : architecture.model_type;
}

constexpr const Architecture* kArchitectures[] = {&kLlama, &kMistral, &kMixtral, &kQwen2, &kQwen3,  &kQwen3Moe, &kPhi3,
                                                  &kOlmo2, &kGemma2,  &kGemma3,  &kGpt2,  &kGptNeo, &kGptNeoX};

std::string known_architectures(checkpoint::Format format) {
  std::string names;
  for (const Architecture* architecture : kArchitectures) {
    const std::string_view name = name_in(*architecture, format);
    if (!name.empty()) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

const Architecture* find_architecture(std::string_view name, checkpoint::Format format) {
  for (const Architecture* architecture : kArchitectures) {
    if (name == name_in(*architecture, format)) return architecture;
  }
  return nullptr;
}

}  // namespace

base::Result<ModelDescription> describe_model(const checkpoint::Checkpoint& checkpoint) {
  const bool gguf = checkpoint.format() == checkpoint::Format::kGguf;
  const std::string where = gguf ? checkpoint.path().string() : (checkpoint.path() / "config.json").string();
  MetadataReader top(checkpoint.metadata(), where);
  const std::string key = gguf ? "general.architecture" : "model_type";
  const std::string name = top.text_or(key, "");
  if (top.error()) return *top.error();
  if (name.empty()) return base::invalid_argument(where + ": " + key + " is missing");
  const Architecture* architecture = find_architecture(name, checkpoint.format());
  if (architecture == nullptr) {
    return base::unsupported(where + ": architecture '" + name + "' is not supported (" +
                             known_architectures(checkpoint.format()) + " are)");
  }
  MetadataReader reader(checkpoint.metadata(), where, gguf ? name + "." : "");
  ModelDescription model = (gguf ? architecture->from_gguf : architecture->from_hugging_face)(reader, checkpoint);
  if (reader.error()) return *reader.error();
  model.architecture = name;
  return model;
}

}  // namespace trireme::model
