#include "launch/request_json/response_json.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "launch/generation_output.h"

namespace trireme::launch {
namespace {

using engine::Generation;
using nlohmann::ordered_json;

}  // namespace

std::vector<TokenWithLogprob> tokens_of_prompt(const scheduler::Request& request, const Generation& choice) {
  std::vector<TokenWithLogprob> tokens;
  for (std::size_t i = 0; i < request.prompt.size(); ++i) {
    TokenWithLogprob& token = tokens.emplace_back();
    token.token = request.prompt[i];
    if (i == 0 || i > choice.prompt_logprobs.size()) continue;
    token.logprob = choice.prompt_logprobs[i - 1];
    if (i <= choice.prompt_top.size()) token.top = choice.prompt_top[i - 1];
  }
  return tokens;
}

ordered_json choice_json(RequestForm form, const scheduler::Request& request, const Generation& choice,
                         const tokenizer::Tokenizer& tokenizer, Echo echo) {
  std::vector<TokenWithLogprob> tokens;
  std::string text;
  if (echo == Echo::kPrompt) {
    tokens = tokens_of_prompt(request, choice);
    text = tokenizer.decode(request.prompt);
  }
  for (const auto& token : choice.tokens) tokens.push_back({token.token, token.logprob, token.top});
  text += choice.text;
  const bool wants_logprobs = request.sampling.num_logprobs >= 0;
  ordered_json object;
  if (form == RequestForm::kChat) {
    object["message"] = {{"role", "assistant"}, {"content", text}, {"refusal", nullptr}};
    object["logprobs"] = wants_logprobs ? chat_logprobs(tokenizer, tokens) : ordered_json(nullptr);
  } else {
    object["text"] = text;
    object["logprobs"] = wants_logprobs ? completion_logprobs(tokenizer, tokens) : ordered_json(nullptr);
  }
  object["finish_reason"] = engine::to_string(choice.finish_reason);
  return object;
}

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
    choice.update(choice_json(form, request, choices[i], tokenizer, Echo::kNothing));
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
