// Generation: the whole output of one choice, collected from its events, for callers that want it at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/output_processor.h"

namespace trireme::engine {

struct Generation {
  std::vector<scheduler::SampledToken> tokens;
  std::string text;
  std::vector<float> prompt_logprobs;  // [prompt - 1], where asked for
  std::vector<std::vector<scheduler::TokenLogprob>> prompt_top;
  scheduler::FinishReason finish_reason = scheduler::FinishReason::kNone;

  bool finished() const { return finish_reason != scheduler::FinishReason::kNone; }
  std::vector<scheduler::TokenId> token_ids() const;
  // Appends one event of this choice.
  void add(const GenerationEvent& event);
};

std::string_view to_string(scheduler::FinishReason reason);  // "stop", "length", "cancelled", "deadline", "non_finite"

}  // namespace trireme::engine
