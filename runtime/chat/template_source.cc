// Where a model's files keep its chat template.
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "runtime/chat/chat_template.h"
#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::chat {
namespace {

constexpr std::uintmax_t kMaxTemplateBytes = 4 << 20;
constexpr std::uintmax_t kMaxConfigBytes = 256 << 20;  // lists of added tokens can be long

using Source = base::Result<std::string>;

Source read_file(const std::filesystem::path& path, std::uintmax_t max_bytes) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return base::not_found(path.string() + ": " + error.message());
  if (size > max_bytes)
    return base::invalid_argument(path.string() + ": larger than " + std::to_string(max_bytes) + " bytes");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (size > 0) text << file.rdbuf();
  if (!file || !text) return base::invalid_argument(path.string() + ": cannot be read");
  return text.str();
}

// A string, or a list of {"name", "template"} of which "default" is taken.
std::optional<std::string> pick_template(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return std::nullopt;
  for (const auto& entry : value) {
    if (!entry.is_object() || entry.value("name", nlohmann::json()) != "default") continue;
    const auto source = entry.find("template");
    if (source != entry.end() && source->is_string()) return source->get<std::string>();
  }
  return std::nullopt;
}

Source from_tokenizer_config(const std::filesystem::path& path) {
  const Source text = read_file(path, kMaxConfigBytes);
  if (!text.ok()) return text;
  const auto config = checkpoint::parse_bounded_json(*text, path.string());
  if (!config.ok()) return config.error();
  if (!config->is_object() || !config->contains("chat_template")) {
    return base::not_found(path.string() + ": no chat_template");
  }
  const auto source = pick_template(config->at("chat_template"));
  if (!source) {
    return base::invalid_argument(path.string() + ": chat_template is neither a string nor a list with a default");
  }
  return *source;
}

Source from_directory(const std::filesystem::path& directory) {
  for (const auto& [name, reads_config] : {std::pair{"chat_template.jinja", false}, {"tokenizer_config.json", true}}) {
    const std::filesystem::path path = directory / name;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    return reads_config ? from_tokenizer_config(path) : read_file(path, kMaxTemplateBytes);
  }
  return base::not_found(directory.string() + ": the model has no chat template");
}

Source from_gguf(const checkpoint::Checkpoint& checkpoint) {
  const nlohmann::json& metadata = checkpoint.metadata();
  const auto found = metadata.find("tokenizer.chat_template");
  if (found == metadata.end() || !found->is_string()) {
    return base::not_found(checkpoint.path().string() + ": the model has no chat template");
  }
  return found->get<std::string>();
}

}  // namespace

base::Result<ChatTemplate> ChatTemplate::from_checkpoint(const checkpoint::Checkpoint& checkpoint) {
  const bool is_gguf = checkpoint.format() == checkpoint::Format::kGguf;
  const Source source = is_gguf ? from_gguf(checkpoint) : from_directory(checkpoint.path());
  if (!source.ok()) return source.error();
  auto parsed = parse(*source);
  if (parsed.ok()) return parsed;
  return base::Error{parsed.error().code, checkpoint.path().string() + ": " + parsed.error().message};
}

}  // namespace trireme::chat
