#include "launch/inspect_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "launch/text_input.h"
#include "runtime/chat/chat_template.h"
#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/mapped_file.h"
#include "runtime/checkpoint/safetensors_header.h"
#include "runtime/config/load.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::launch {
namespace {

namespace fs = std::filesystem;
using Line = base::Result<std::string>;

std::string token_text(const tokenizer::Tokenizer& tokenizer, std::optional<tokenizer::TokenId> token) {
  return token ? "\"" + tokenizer.token_bytes(*token) + "\"" : "none";
}

std::string describe(const tokenizer::Tokenizer& tokenizer) {
  return std::string(tokenizer.kind()) + ", " + std::to_string(tokenizer.vocab_size()) + " tokens, BOS " +
         token_text(tokenizer, tokenizer.bos()) + ", EOS " + token_text(tokenizer, tokenizer.eos());
}

Line describe_tokenizer(const fs::path& path) {
  const auto tokenizer = tokenizer::Tokenizer::from_path(path);
  if (!tokenizer) return tokenizer.error();
  return "tokenizer: " + describe(**tokenizer) + "; usable";
}

Line describe_settings(const fs::path& path) {
  const base::Result<std::string> text = read_text(path.string());
  if (!text) return text.error();
  config::ConfigSources sources;
  sources.file = {*text, path.string()};
  const auto resolved = config::load(sources);
  if (!resolved) return resolved.error();
  std::size_t num_set = 0;
  for (const config::Origin& origin : resolved->origins) num_set += origin.source == config::Source::kFile ? 1 : 0;
  return "configuration: sets " + std::to_string(num_set) + " of " + std::to_string(resolved->table.size()) +
         " settings; usable";
}

Line describe_template(const fs::path& path) {
  const base::Result<std::string> text = read_text(path.string());
  if (!text) return text.error();
  const auto parsed = chat::ChatTemplate::parse(*text);
  if (!parsed) return base::Error{parsed.error().code, path.string() + ": " + parsed.error().message};
  return std::string("chat template; usable");
}

Line describe_safetensors(const fs::path& path) {
  const auto file = checkpoint::MappedFile::open(path);
  if (!file) return file.error();
  const auto header = checkpoint::parse_safetensors(file->bytes(), path.string());
  if (!header) return header.error();
  return "safetensors: " + std::to_string(header->tensors.size()) +
         " tensors, a part of a model; usable by the name of the directory with its config.json";
}

std::string joined(const nlohmann::json& names) {
  if (names.is_string()) return names.get<std::string>();
  std::string text;
  for (const nlohmann::json& name : names) {
    if (name.is_string()) text += (text.empty() ? "" : ", ") + name.get<std::string>();
  }
  return text;
}

// A directory in the format of PEFT.
Line describe_adapter(const fs::path& directory) {
  const std::string config_path = (directory / "adapter_config.json").string();
  const base::Result<std::string> text = read_text(config_path);
  if (!text) return text.error();
  const auto config = checkpoint::parse_bounded_json(*text, config_path);
  if (!config) return config.error();
  if (!config->is_object()) return base::invalid_argument(config_path + ": is not a JSON object");
  const auto field = [&](const char* name) { return config->value(name, nlohmann::json()); };
  if (field("peft_type") != "LORA") return base::unsupported(config_path + ": peft_type is not LORA");
  if (!field("r").is_number_unsigned()) return base::invalid_argument(config_path + ": r is not a rank");
  const Line tensors = describe_safetensors(directory / "adapter_model.safetensors");
  if (!tensors) return tensors.error();
  const nlohmann::json base = field("base_model_name_or_path");
  return "LoRA adapter (PEFT): rank " + field("r").dump() + " on " + joined(field("target_modules")) + ", of " +
         (base.is_string() ? base.get<std::string>() : "an unnamed model") + "; usable with its base model";
}

}  // namespace

std::optional<Line> describe_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (fs::exists(path / "adapter_config.json", error)) return describe_adapter(path);
    return tokenizer::Tokenizer::is_without_model(path) ? std::optional(describe_tokenizer(path)) : std::nullopt;
  }
  if (tokenizer::Tokenizer::is_without_model(path)) return describe_tokenizer(path);
  const std::string extension = path.extension().string();
  if (extension == ".yaml" || extension == ".yml") return describe_settings(path);
  if (extension == ".jinja") return describe_template(path);
  if (extension == ".safetensors") return describe_safetensors(path);
  return std::nullopt;
}

std::string describe_text_side(const checkpoint::Checkpoint& checkpoint) {
  const auto tokenizer = tokenizer::Tokenizer::from_checkpoint(checkpoint);
  const auto chat_template = chat::ChatTemplate::from_checkpoint(checkpoint);
  const bool has_none = !chat_template && chat_template.error().code == base::ErrorCode::kNotFound;
  return "tokenizer     " + (tokenizer ? describe(**tokenizer) : "not usable: " + tokenizer.error().message) +
         "\nchat template " +
         (chat_template ? "usable"
          : has_none    ? "none"
                        : "not usable: " + chat_template.error().message) +
         "\n";
}

}  // namespace trireme::launch
