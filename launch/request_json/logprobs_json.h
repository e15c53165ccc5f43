// Log-probabilities of tokens in the two forms that OpenAI's API has for them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/step_plan.h"

namespace trireme::launch {

// One token of a text, with what is known of its probability; nothing for the first of a prompt.
struct TokenWithLogprob {
  std::int32_t token = 0;
  std::optional<float> logprob;
  std::vector<scheduler::TokenLogprob> top;  // most likely first
};

// {tokens, token_logprobs, top_logprobs, text_offset}; offsets count characters from `first_offset` on. Each of
// top_logprobs holds the token itself too, with the same number, so that equality tells whether it was the likeliest.
// A token that is no text on its own appears as "bytes:\xe2\x82".
nlohmann::ordered_json completion_logprobs(const tokenizer::Tokenizer& tokenizer,
                                           const std::vector<TokenWithLogprob>& tokens, std::size_t first_offset = 0);

// {content: [{token, logprob, bytes, top_logprobs}], refusal}.
nlohmann::ordered_json chat_logprobs(const tokenizer::Tokenizer& tokenizer,
                                     const std::vector<TokenWithLogprob>& tokens);

}  // namespace trireme::launch
