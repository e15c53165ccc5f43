// Where a model's files keep its chat template.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/check.h"
#include "runtime/chat/chat_template.h"
#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/side_files.h"

namespace trireme::chat {
namespace {

constexpr std::size_t kMaxTemplateBytes = 4 << 20;

using Source = base::Result<std::string>;

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

Source from_tokenizer_config(const std::string& text, const std::string& file) {
  const auto config = checkpoint::parse_bounded_json(text, file);
  if (!config.ok()) return config.error();
  if (!config->is_object() || !config->contains("chat_template")) {
    return base::not_found(file + ": no chat_template");
  }
  const auto source = pick_template(config->at("chat_template"));
  if (!source) {
    return base::invalid_argument(file + ": chat_template is neither a string nor a list with a default");
  }
  return *source;
}

Source from_side_files(const checkpoint::SideFiles& files) {
  const std::string template_name = "chat_template.jinja", config_name = "tokenizer_config.json";
  Source text = files.read(template_name);
  if (text && text->size() > kMaxTemplateBytes) {
    return base::invalid_argument(files.where(template_name) + ": larger than 4 MiB");
  }
  if (text || text.error().code != base::ErrorCode::kNotFound) return text;
  text = files.read(config_name);
  if (text) return from_tokenizer_config(*text, files.where(config_name));
  if (text.error().code != base::ErrorCode::kNotFound) return text;
  return base::not_found(files.where("") + ": the model has no chat template");
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
  TRIREME_CHECK(is_gguf || checkpoint.side_files() != nullptr);
  const Source source = is_gguf ? from_gguf(checkpoint) : from_side_files(*checkpoint.side_files());
  if (!source.ok()) return source.error();
  auto parsed = parse(*source);
  if (parsed.ok()) return parsed;
  return base::Error{parsed.error().code, checkpoint.path().string() + ": " + parsed.error().message};
}

}  // namespace trireme::chat
