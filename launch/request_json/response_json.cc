#include "launch/request_json/response_json.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "launch/generation_output.h"

namespace trireme::launch {
namespace {

using engine::Generation;
using nlohmann::ordered_json;
using scheduler::SampledToken;
using scheduler::TokenLogprob;

ordered_json bytes_json(const std::string& text) {
  ordered_json bytes = ordered_json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

std::size_t num_characters(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  return count;
}

ordered_json chat_token(const tokenizer::Tokenizer& tokenizer, std::int32_t id, float logprob) {
  const std::string text = tokenizer.token_bytes(id);
  return {{"token", text}, {"logprob", logprob}, {"bytes", bytes_json(text)}};
}

ordered_json chat_logprobs(const Generation& choice, const tokenizer::Tokenizer& tokenizer) {
  ordered_json content = ordered_json::array();
  for (const SampledToken& token : choice.tokens) {
    ordered_json entry = chat_token(tokenizer, token.token, token.logprob);
    entry["top_logprobs"] = ordered_json::array();
    for (const TokenLogprob& top : token.top) {
      entry["top_logprobs"].push_back(chat_token(tokenizer, top.token, top.logprob));
    }
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

ordered_json completion_logprobs(const Generation& choice, const tokenizer::Tokenizer& tokenizer) {
  ordered_json object = {{"tokens", ordered_json::array()},
                         {"token_logprobs", ordered_json::array()},
                         {"top_logprobs", ordered_json::array()},
                         {"text_offset", ordered_json::array()}};
  std::size_t offset = 0;
  for (const SampledToken& token : choice.tokens) {
    const std::string text = tokenizer.token_bytes(token.token);
    ordered_json top = ordered_json::object();
    for (const TokenLogprob& entry : token.top) top[tokenizer.token_bytes(entry.token)] = entry.logprob;
    object["tokens"].push_back(text);
    object["token_logprobs"].push_back(token.logprob);
    object["top_logprobs"].push_back(std::move(top));
    object["text_offset"].push_back(offset);
    offset += num_characters(text);
  }
  return object;
}

ordered_json choice_json(RequestForm form, const scheduler::Request& request, const Generation& choice,
                         const tokenizer::Tokenizer& tokenizer) {
  const bool wants_logprobs = request.sampling.num_logprobs >= 0;
  ordered_json object;
  if (form == RequestForm::kChat) {
    object["message"] = {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
    object["logprobs"] = wants_logprobs ? chat_logprobs(choice, tokenizer) : ordered_json(nullptr);
  } else {
    object["text"] = choice.text;
    object["logprobs"] = wants_logprobs ? completion_logprobs(choice, tokenizer) : ordered_json(nullptr);
  }
  object["finish_reason"] = engine::to_string(choice.finish_reason);
  return object;
}

}  // namespace

ordered_json response_body(RequestForm form, const ResponseIdentity& identity, const scheduler::Request& request,
                           const std::vector<Generation>& choices, const tokenizer::Tokenizer& tokenizer) {
  TRIREME_CHECK(form != RequestForm::kPlain);
  const bool chat = form == RequestForm::kChat;
  ordered_json body = {{"id", (chat ? "chatcmpl-" : "cmpl-") + identity.id},
                       {"object", chat ? "chat.completion" : "text_completion"},
                       {"created", identity.created},
                       {"model", identity.model},
                       {"choices", ordered_json::array()}};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    ordered_json choice = {{"index", i}};
    choice.update(choice_json(form, request, choices[i], tokenizer));
    body["choices"].push_back(std::move(choice));
  }
  body["usage"] = usage_json(request, choices);
  return body;
}

ordered_json error_body(const RequestError& error) {
  ordered_json object = {
      {"message", error.message}, {"type", "invalid_request_error"}, {"param", nullptr}, {"code", nullptr}};
  if (!error.field.empty()) object["param"] = error.field;
  return {{"error", std::move(object)}};
}

}  // namespace trireme::launch
