#include "runtime/engine/generation.h"

namespace trireme::engine {

std::vector<scheduler::TokenId> Generation::token_ids() const {
  std::vector<scheduler::TokenId> ids;
  for (const scheduler::SampledToken& token : tokens) ids.push_back(token.token);
  return ids;
}

void Generation::add(const GenerationEvent& event) {
  if (event.token && !event.token->non_finite) tokens.push_back(*event.token);
  text += event.text;
  if (!event.prompt_logprobs.empty()) {
    prompt_logprobs = event.prompt_logprobs;
    prompt_top = event.prompt_top;
  }
  if (event.finish_reason != scheduler::FinishReason::kNone) finish_reason = event.finish_reason;
}

std::string_view to_string(scheduler::FinishReason reason) {
  switch (reason) {
    case scheduler::FinishReason::kNone: return "none";
    case scheduler::FinishReason::kStop: return "stop";
    case scheduler::FinishReason::kLength: return "length";
    case scheduler::FinishReason::kCancelled: return "cancelled";
    case scheduler::FinishReason::kDeadline: return "deadline";
    case scheduler::FinishReason::kNonFinite: return "non_finite";
  }
  return "?";
}

}  // namespace trireme::engine
