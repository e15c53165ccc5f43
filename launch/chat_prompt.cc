#include "launch/chat_prompt.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

namespace trireme::launch {
namespace {

// Unicode keeps U+FDD0 … U+FDEF for a program's own use; one that no message contains marks, before rendering, the
// places where a message's text looks like a special token. The template carries the marks along, whatever it does to
// the text.
std::optional<std::string> unused_mark(const std::vector<ChatMessage>& messages, const std::string& variables) {
  for (unsigned char last = 0x90; last <= 0xAF; ++last) {
    const std::string mark = {'\xEF', '\xB7', static_cast<char>(last)};
    const auto contains = [&](const ChatMessage& message) { return message.content.find(mark) != std::string::npos; };
    if (variables.find(mark) != std::string::npos) continue;
    if (std::none_of(messages.begin(), messages.end(), contains)) return mark;
  }
  return std::nullopt;
}

std::string with_marks(const std::string& content, const std::string& mark, const tokenizer::Tokenizer& tokenizer) {
  std::string marked;
  std::size_t done = 0;
  for (const std::size_t offset : tokenizer.special_offsets(content)) {
    marked += content.substr(done, offset - done) + mark;
    done = offset;
  }
  return marked + content.substr(done);
}

// Marks every text in `value`, keys excepted.
void mark_texts(nlohmann::ordered_json& value, const std::string& mark, const tokenizer::Tokenizer& tokenizer) {
  if (value.is_string()) {
    value = with_marks(value.get_ref<const std::string&>(), mark, tokenizer);
  } else if (value.is_structured()) {
    for (nlohmann::ordered_json& item : value) mark_texts(item, mark, tokenizer);
  }
}

// Takes the marks out of `text`; the places where they stood.
std::vector<std::size_t> remove_marks(std::string& text, const std::string& mark) {
  std::vector<std::size_t> places;
  std::string clean;
  std::size_t done = 0;
  for (std::size_t found = text.find(mark); found != std::string::npos; found = text.find(mark, done)) {
    clean += text.substr(done, found - done);
    places.push_back(clean.size());
    done = found + mark.size();
  }
  text = clean + text.substr(done);
  return places;
}

// What the clock on the wall shows, for templates that tell the model the date.
std::chrono::local_seconds local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return std::chrono::local_seconds(std::chrono::seconds(now + local.tm_gmtoff));
}

std::string token_text(const tokenizer::Tokenizer& tokenizer, std::optional<std::int32_t> token) {
  return token ? tokenizer.token_bytes(*token) : "";
}

}  // namespace

base::Result<nlohmann::ordered_json> parse_template_variables(const std::string& text, const std::string& option) {
  if (text.empty()) return nlohmann::ordered_json::object();
  constexpr int kMaxDepth = 64;
  bool too_deep = false;
  auto value = nlohmann::ordered_json::parse(
      text,
      [&](int depth, nlohmann::ordered_json::parse_event_t, const nlohmann::ordered_json&) {
        too_deep |= depth > kMaxDepth;
        return !too_deep;
      },
      false);
  if (too_deep || !value.is_object()) return base::invalid_argument(option + " is not a JSON object");
  return value;
}

base::Result<ChatPrompt> ChatPrompt::from_checkpoint(const checkpoint::Checkpoint& checkpoint,
                                                     const tokenizer::Tokenizer& tokenizer) {
  auto chat_template = chat::ChatTemplate::from_checkpoint(checkpoint);
  if (chat_template) return ChatPrompt(std::move(chat_template).value(), tokenizer);
  if (chat_template.error().code != base::ErrorCode::kNotFound) return chat_template.error();
  return base::not_found(checkpoint.path().string() + " has no chat template: use --prompt without --chat");
}

base::Result<std::vector<std::int32_t>> ChatPrompt::tokens(const std::vector<ChatMessage>& messages) const {
  return tokens(messages, nlohmann::ordered_json::object());
}

base::Result<std::vector<std::int32_t>> ChatPrompt::tokens(const std::vector<ChatMessage>& messages,
                                                           const nlohmann::ordered_json& variables) const {
  if (!variables.is_object()) return base::invalid_argument("chat template variables are not a JSON object");
  for (const char* own : {"messages", "bos_token", "eos_token"}) {
    if (variables.contains(own)) {
      return base::invalid_argument("chat template variable \"" + std::string(own) + "\" cannot be set");
    }
  }
  const auto mark = unused_mark(messages, variables.dump());
  if (!mark) return base::invalid_argument("the messages use all noncharacters from U+FDD0 to U+FDEF");
  nlohmann::ordered_json context;
  context["messages"] = nlohmann::ordered_json::array();
  for (const ChatMessage& message : messages) {
    context["messages"].push_back(
        {{"role", message.role}, {"content", with_marks(message.content, *mark, *tokenizer_)}});
  }
  context["add_generation_prompt"] = true;
  for (const auto& [name, value] : variables.items()) {
    context[name] = value;
    mark_texts(context[name], *mark, *tokenizer_);
  }
  context["bos_token"] = token_text(*tokenizer_, tokenizer_->bos());
  context["eos_token"] = token_text(*tokenizer_, tokenizer_->eos());
  chat::RenderLimits limits;
  limits.now = local_time();
  auto text = template_.render(context, limits);
  if (!text) return text.error();
  tokenizer::EncodeOptions options;
  options.add_special = false;  // the template writes them itself
  const std::vector<std::size_t> places = remove_marks(*text, *mark);
  options.literal_offsets = places;
  return tokenizer_->encode(*text, options);
}

}  // namespace trireme::launch
