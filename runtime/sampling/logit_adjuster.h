// LogitAdjuster: changes logits as the request asks for before anything is drawn: bias and penalties.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/request.h"

namespace trireme::sampling {

bool adjusts_logits(const scheduler::SamplingParams& params);

// Keeps scratch memory between calls; one per thread.
class LogitAdjuster {
 public:
  // In place, each token once, whatever the order of `history`:
  //   bias:        l += bias
  //   repetition:  l = l > 0 ? l / penalty : l * penalty   for tokens of prompt and output (Keskar et al. 2019)
  //   others:      l -= presence + frequency * count        for tokens of the output, history[prompt_length, ...)
  // Tokens outside the vocabulary are passed over. The result never is NaN or +inf where the logits are not.
  void adjust(const scheduler::SamplingParams& params, std::span<const scheduler::TokenId> history,
              std::int64_t prompt_length, std::span<float> logits);

 private:
  void count_uses(std::span<const scheduler::TokenId> history, std::int64_t prompt_length);

  struct TokenUse {
    bool seen = false;
    std::int32_t output_count = 0;
  };
  std::vector<TokenUse> uses_;                // [vocab_size], all unset between calls
  std::vector<scheduler::TokenId> distinct_;  // tokens that are set in uses_
};

}  // namespace trireme::sampling
