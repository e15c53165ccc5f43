// What `trireme generate` prints: text as it comes, or one JSON object at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runtime/engine/generation.h"
#include "scheduler/request.h"

namespace trireme::launch {

// When things happened to one request.
struct GenerationTiming {
  using Clock = std::chrono::steady_clock;
  Clock::time_point submitted, first_token, finished;

  double seconds_to_first_token() const { return std::chrono::duration<double>(first_token - submitted).count(); }
  double total_seconds() const { return std::chrono::duration<double>(finished - submitted).count(); }
  double decode_seconds() const { return std::chrono::duration<double>(finished - first_token).count(); }
};

// text, token_ids, prompt_token_ids, finish_reason, token_logprobs, top_logprobs, prompt_logprobs (null first), usage.
// Log-probabilities that were not asked for are null. What there is one of per choice is a list where there are
// several.
nlohmann::ordered_json generation_fields(const scheduler::Request& request,
                                         const std::vector<engine::Generation>& choices);

// prompt_tokens, completion_tokens, total_tokens.
nlohmann::ordered_json usage_json(const scheduler::Request& request, const std::vector<engine::Generation>& choices);

// On one line; bytes that are not UTF-8 become U+FFFD.
std::string to_line(const nlohmann::ordered_json& object);

// One object, on one line: generation_fields, and timing.
std::string generation_json(const scheduler::Request& request, const std::vector<engine::Generation>& choices,
                            const GenerationTiming& timing);

// "27 prompt tokens, first token after 0.08 s; 64 tokens in 1.23 s (52.0 tokens/s), stop"
std::string generation_summary(const scheduler::Request& request, const std::vector<engine::Generation>& choices,
                               const GenerationTiming& timing);

}  // namespace trireme::launch
