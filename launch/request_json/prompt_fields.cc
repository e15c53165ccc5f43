#include "launch/request_json/prompt_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace trireme::launch {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxPrompts = 1024;
constexpr std::size_t kMaxMessages = 4096;
constexpr std::size_t kMaxRoleBytes = 64;

// Ids beyond the vocabulary are for the model to refuse; what is no token id at all is refused here.
bool is_id_list(const json& value) {
  const auto is_id = [](const json& id) {
    return id.is_number_integer() && (!id.is_number_unsigned() || id.get<std::uint64_t>() <= INT32_MAX) &&
           id.get<std::int64_t>() >= INT32_MIN;
  };
  return value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_id);
}

std::vector<PromptSource> read_prompt(FieldReader& reader, const json& prompt) {
  if (prompt.is_string()) return {prompt.get<std::string>()};
  if (is_id_list(prompt)) return {prompt.get<std::vector<std::int32_t>>()};
  std::vector<PromptSource> prompts;
  if (prompt.is_array() && prompt.size() <= kMaxPrompts) {
    for (const json& one : prompt) {
      if (one.is_string()) prompts.emplace_back(one.get<std::string>());
      if (is_id_list(one)) prompts.emplace_back(one.get<std::vector<std::int32_t>>());
    }
  }
  if (prompts.empty() || prompts.size() != prompt.size()) {
    reader.fail("prompt", "must be a text, a list of token ids, or a list of at most " + std::to_string(kMaxPrompts) +
                              " of these");
  }
  return prompts;
}

// Text, or a list of parts of type text, which stand one behind the other.
std::optional<std::string> content_text(const json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const json& part : content) {
    const bool is_text = part.is_object() && part.contains("type") && part["type"] == "text" && part.contains("text") &&
                         part["text"].is_string();
    if (!is_text) return std::nullopt;
    text += part["text"].get_ref<const std::string&>();
  }
  return text;
}

std::vector<PromptSource> read_messages(FieldReader& reader, const json& list) {
  std::vector<ChatMessage> messages;
  if (!list.is_array() || list.empty() || list.size() > kMaxMessages) {
    reader.fail("messages", "must be a list of 1 to " + std::to_string(kMaxMessages) + " messages");
    return {};
  }
  for (const json& message : list) {
    const std::string place = "messages[" + std::to_string(messages.size()) + "]";
    if (!message.is_object()) {
      reader.fail(place, "must be an object with role and content");
      return {};
    }
    FieldReader fields(message);
    const auto role = fields.text("role", kMaxRoleBytes);
    fields.refuse("tool_calls", "tools are not supported");
    const json* content = fields.value("content");
    const auto text = content == nullptr ? std::nullopt : content_text(*content);
    if (!role && !fields.error()) fields.fail("role", "is missing");
    if (!text) fields.fail("content", "must be a text, or a list of parts of type text");
    if (const auto& error = fields.error()) {
      reader.fail(place + "." + error->field, error->message.substr(error->field.size() + 2));
      return {};
    }
    messages.push_back({*role, *text});
  }
  return {std::move(messages)};
}

std::vector<PromptSource> read_ids(FieldReader& reader, const json& ids) {
  if (is_id_list(ids)) return {ids.get<std::vector<std::int32_t>>()};
  reader.fail("prompt_ids", "must be a list of token ids");
  return {};
}

}  // namespace

std::vector<PromptSource> read_prompt_fields(FieldReader& reader, RequestForm form) {
  const json* prompt = form == RequestForm::kChat ? nullptr : reader.value("prompt");
  const json* messages = form == RequestForm::kCompletions ? nullptr : reader.value("messages");
  const json* ids = form == RequestForm::kPlain ? reader.value("prompt_ids") : nullptr;
  const int given = (prompt != nullptr ? 1 : 0) + (messages != nullptr ? 1 : 0) + (ids != nullptr ? 1 : 0);
  if (given != 1) {
    const char* field = form == RequestForm::kChat ? "messages" : "prompt";
    reader.fail(field, form != RequestForm::kPlain ? "is missing"
                       : given == 0                ? "one of prompt, prompt_ids and messages is needed"
                                                   : "prompt, prompt_ids and messages exclude each other");
    return {};
  }
  if (messages != nullptr) return read_messages(reader, *messages);
  if (ids != nullptr) return read_ids(reader, *ids);
  if (form == RequestForm::kPlain && !prompt->is_string()) {
    reader.fail("prompt", "must be a text; token ids belong into prompt_ids");
    return {};
  }
  return read_prompt(reader, *prompt);
}

}  // namespace trireme::launch
