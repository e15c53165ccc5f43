#include "runtime/sampling/logit_adjuster.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace trireme::sampling {
namespace {

// Absurd parameters may overflow: saturate, so that they do not look like a fault of the model.
float saturate(float logit) {
  if (std::isnan(logit)) return -std::numeric_limits<float>::infinity();
  return std::min(logit, std::numeric_limits<float>::max());
}

bool inside(scheduler::TokenId token, std::size_t vocab_size) {
  return token >= 0 && static_cast<std::size_t>(token) < vocab_size;
}

}  // namespace

bool adjusts_logits(const scheduler::SamplingParams& params) {
  return !params.logit_bias.empty() || params.needs_history();
}

void LogitAdjuster::count_uses(std::span<const scheduler::TokenId> history, std::int64_t prompt_length) {
  distinct_.clear();
  for (std::size_t i = 0; i < history.size(); ++i) {
    const scheduler::TokenId token = history[i];
    if (!inside(token, uses_.size())) continue;
    TokenUse& use = uses_[static_cast<std::size_t>(token)];
    if (!use.seen) distinct_.push_back(token);
    use.seen = true;
    if (static_cast<std::int64_t>(i) >= prompt_length) ++use.output_count;
  }
}

void LogitAdjuster::adjust(const scheduler::SamplingParams& params, std::span<const scheduler::TokenId> history,
                           std::int64_t prompt_length, std::span<float> logits) {
  for (const auto& [token, bias] : params.logit_bias) {
    if (!inside(token, logits.size())) continue;
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = saturate(logit + bias);
  }
  if (!params.needs_history()) return;
  uses_.resize(logits.size());
  count_uses(history, prompt_length);
  for (const scheduler::TokenId token : distinct_) {
    float& logit = logits[static_cast<std::size_t>(token)];
    TokenUse& use = uses_[static_cast<std::size_t>(token)];
    logit = saturate(logit > 0.0f ? logit / params.repetition_penalty : logit * params.repetition_penalty);
    if (use.output_count > 0) {
      const float penalty = params.presence_penalty + params.frequency_penalty * static_cast<float>(use.output_count);
      logit = saturate(logit - penalty);
    }
    use = {};
  }
}

}  // namespace trireme::sampling
