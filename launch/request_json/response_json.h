// Generated choices → the body of a response in OpenAI's forms: text_completion and chat.completion.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launch/request_json/logprobs_json.h"
#include "launch/request_json/parse_request.h"
#include "runtime/engine/generation.h"
#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/request.h"

namespace trireme::launch {

struct ResponseIdentity {
  std::string id;  // without its prefix (cmpl-, chatcmpl-)
  std::string model;
  std::int64_t created = 0;  // seconds since 1970
};

enum class Echo { kNothing, kPrompt };  // what stands before the output

// What one choice says but for its index: text or message, logprobs, finish_reason.
nlohmann::ordered_json choice_json(RequestForm form, const scheduler::Request& request,
                                   const engine::Generation& choice, const tokenizer::Tokenizer& tokenizer, Echo echo);

// The prompt's tokens and, where the request asked for them, their log-probabilities.
std::vector<TokenWithLogprob> tokens_of_prompt(const scheduler::Request& request, const engine::Generation& choice);

// Precondition: `form` is one of OpenAI's.
nlohmann::ordered_json response_body(RequestForm form, const ResponseIdentity& identity,
                                     const scheduler::Request& request, const std::vector<engine::Generation>& choices,
                                     const tokenizer::Tokenizer& tokenizer);

// {"error": {message, type, param, code}}; a request that is wrong.
nlohmann::ordered_json error_body(const RequestError& error);

}  // namespace trireme::launch
