// Request: what a client asks for, validated and immutable from here on. It holds all that is needed to replay it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/ids.h"

namespace trireme::scheduler {

// How the next token is drawn from the logits. Order of application: logit_bias, penalties, temperature, top_k, top_p,
// min_p.
struct SamplingParams {
  float temperature = 0.0f;         // 0: greedy (the lowest id among equals)
  std::int32_t top_k = 0;           // 0: off
  float top_p = 1.0f;               // (0, 1]; 1: off
  float min_p = 0.0f;               // [0, 1]; 0: off
  float repetition_penalty = 1.0f;  // > 0; over prompt and output (Keskar et al. 2019); 1: off
  float presence_penalty = 0.0f;    // over output tokens
  float frequency_penalty = 0.0f;
  std::vector<std::pair<TokenId, float>> logit_bias;
  std::uint64_t seed = 0;
  std::int32_t num_logprobs = -1;  // -1: none; N >= 0: of the sampled token and the N most likely ones

  bool needs_history() const {
    return repetition_penalty != 1.0f || presence_penalty != 0.0f || frequency_penalty != 0.0f;
  }
  bool operator==(const SamplingParams&) const = default;
};

struct Request {
  RequestId id;
  std::string tenant;           // whose share of the engine it uses; empty: the common one
  std::string cache_scope;      // among whom prefixes are shared; empty: those of the tenant
  std::uint32_t adapter = 0;    // number of the adapter that the model runs with; 0: none
  std::vector<TokenId> prompt;  // at least one token
  SamplingParams sampling;
  std::int32_t max_tokens = 16;  // 0: only score the prompt
  std::int32_t min_tokens = 0;   // stop_token_ids do not end a sequence before so many output tokens
  std::int32_t num_choices = 1;
  std::vector<TokenId> stop_token_ids;  // ends with kStop; holds the model's end-of-sequence ids unless ignored
  std::vector<std::string> stop;        // stop strings, matched by the engine on text
  bool prompt_logprobs = false;         // log-probability of each prompt token given those before it
  std::int32_t priority = 0;            // higher first
  std::optional<TimePoint> deadline;    // skipped if not started by then, ended if not done by then

  // Requests of one scope may share keys and values of equal beginnings; those of different adapters are different.
  std::string prefix_scope() const {
    return std::to_string(adapter) + ":" + (cache_scope.empty() ? tenant : cache_scope);
  }
};

enum class FinishReason : std::uint8_t {
  kNone,
  kStop,       // a stop token or stop string
  kLength,     // max_tokens, or the model's context is full
  kCancelled,  // by the client
  kDeadline,   // time is up
  kNonFinite,  // the model gave NaN or infinity for this sequence alone
};

}  // namespace trireme::scheduler
