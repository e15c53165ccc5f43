#include "launch/server/http/completion_writer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "launch/generation_output.h"
#include "launch/request_json/response_json.h"
#include "launch/server/http/error_body.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::http {
namespace {

using engine::Generation;
using engine::GenerationEvent;
using launch::TokenWithLogprob;
using nlohmann::ordered_json;
using scheduler::FinishReason;

const char* finish_text(FinishReason reason) {
  if (reason == FinishReason::kNone) return nullptr;
  return reason == FinishReason::kStop ? "stop" : "length";
}

TokenWithLogprob sampled(const scheduler::SampledToken& token) {
  return {token.token, token.logprob, token.top};
}

std::string data(const std::string& json) {
  return "data: " + json + "\n\n";
}

}  // namespace

std::size_t CompletionCall::num_choices() const {
  return requests.size() * static_cast<std::size_t>(requests.front().num_choices);
}

std::size_t CompletionCall::index_of(std::size_t prompt, std::uint32_t choice) const {
  return prompt * static_cast<std::size_t>(requests.front().num_choices) + choice;
}

const scheduler::Request& CompletionCall::request_of(std::size_t index) const {
  return requests[index / static_cast<std::size_t>(requests.front().num_choices)];
}

CompletionWriter::CompletionWriter(const CompletionCall& call, const tokenizer::Tokenizer& tokenizer)
    : call_(call), tokenizer_(tokenizer), begun_(call.num_choices(), false), offsets_(call.num_choices(), 0) {
  const char* object = call.is_chat() ? "chat.completion.chunk" : "text_completion";
  const ordered_json head = {{"id", call.id}, {"object", object}, {"created", call.created}, {"model", call.model}};
  head_ = launch::to_line(head);
  head_.back() = ',';  // in place of the brace
}

void CompletionWriter::count(const GenerationEvent& event) {
  if (event.token && !event.token->non_finite) ++output_tokens_;
}

std::string CompletionWriter::usage() const {
  std::int64_t prompt = 0;
  for (const scheduler::Request& request : call_.requests) prompt += static_cast<std::int64_t>(request.prompt.size());
  const ordered_json usage = {{"prompt_tokens", prompt},
                              {"completion_tokens", output_tokens_},
                              {"total_tokens", prompt + output_tokens_},
                              {"prompt_tokens_details", {{"cached_tokens", cached_tokens_}}}};
  return launch::to_line(usage);
}

std::string CompletionWriter::whole(const std::vector<Generation>& choices) const {
  ordered_json body = {{"id", call_.id},
                       {"object", call_.is_chat() ? "chat.completion" : "text_completion"},
                       {"created", call_.created},
                       {"model", call_.model},
                       {"choices", ordered_json::array()}};
  for (std::size_t index = 0; index < choices.size(); ++index) {
    ordered_json object = {{"index", index}};
    object.update(launch::choice_json(call_.form, call_.request_of(index), choices[index], tokenizer_,
                                      call_.echo ? launch::Echo::kPrompt : launch::Echo::kNothing));
    body["choices"].push_back(std::move(object));
  }
  std::string json = launch::to_line(body);
  json.back() = ',';
  return json + "\"usage\":" + usage() + "}";
}

std::string CompletionWriter::choice(std::size_t index, const std::string& text, const std::string& logprobs,
                                     const char* finish_reason) const {
  const std::string content = launch::to_line(text);
  std::string json = "{\"index\":" + std::to_string(index);
  json += call_.is_chat() ? ",\"delta\":{\"content\":" + content + "}" : ",\"text\":" + content;
  json += ",\"logprobs\":" + (logprobs.empty() ? "null" : logprobs);
  json += finish_reason == nullptr ? ",\"finish_reason\":null}"
                                   : std::string(",\"finish_reason\":\"") + finish_reason + "\"}";
  return json;
}

std::string CompletionWriter::chunk(const std::string& choice) const {
  std::string json = head_ + "\"choices\":[" + choice + "]";
  if (call_.continuous_usage) json += ",\"usage\":" + usage();
  return data(json + "}");
}

std::string CompletionWriter::logprobs(std::size_t index, const std::vector<TokenWithLogprob>& tokens) {
  if (call_.request_of(index).sampling.num_logprobs < 0) return {};
  if (call_.is_chat()) return launch::to_line(launch::chat_logprobs(tokenizer_, tokens));
  std::string json = launch::to_line(launch::completion_logprobs(tokenizer_, tokens, offsets_[index]));
  for (const auto& token : tokens) offsets_[index] += tokenizer::num_characters(tokenizer_.token_bytes(token.token));
  return json;
}

std::string CompletionWriter::echoed(std::size_t index, const GenerationEvent& event) {
  const scheduler::Request& request = call_.request_of(index);
  Generation scores;
  scores.prompt_logprobs = event.prompt_logprobs;
  scores.prompt_top = event.prompt_top;
  const std::string text = tokenizer_.decode(request.prompt);
  return chunk(choice(index, text, logprobs(index, launch::tokens_of_prompt(request, scores)), nullptr));
}

std::string CompletionWriter::event(std::size_t index, const GenerationEvent& event) {
  std::string text;
  if (!begun_[index]) {
    begun_[index] = true;
    if (call_.is_chat()) {
      text += chunk("{\"index\":" + std::to_string(index) +
                    ",\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}");
    }
    if (call_.echo) text += echoed(index, event);
  }
  std::vector<TokenWithLogprob> tokens;
  if (event.token) tokens.push_back(sampled(*event.token));
  return text + chunk(choice(index, event.text, logprobs(index, tokens), finish_text(event.finish_reason)));
}

std::string CompletionWriter::end() const {
  std::string text;
  if (call_.include_usage) text = data(head_ + "\"choices\":[],\"usage\":" + usage() + "}");
  return text + data("[DONE]");
}

std::string CompletionWriter::failure(int status, const std::string& message) {
  return data(error_body(status, message)) + data("[DONE]");
}

}  // namespace trireme::http
