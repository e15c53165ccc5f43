// Sampling: draws tokens from logits on the last stage. Pure functions of the row and the sampling state: randomness
// comes from (seed, choice index, position) alone, so that a replay, another batch or another rank count draws the same
// token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sampling/logit_adjuster.h"
#include "scheduler/request.h"
#include "scheduler/step_plan.h"

namespace trireme::sampling {

// Uniform in [0, 1), from Philox 4x32-10 (Salmon et al. 2011) with key = seed and counter = (choice_index, position).
double uniform(std::uint64_t seed, std::uint32_t choice_index, std::int64_t position);

struct SampleArgs {
  std::span<const float> logits;  // [vocab_size]
  float log_sum_exp = 0.0f;       // of `logits`; used where log-probabilities are asked for
  const scheduler::SamplingParams* params = nullptr;
  std::uint32_t choice_index = 0;
  std::int64_t position = 0;                    // of the token to be drawn
  std::span<const scheduler::TokenId> history;  // prompt and output so far, where params->needs_history()
  std::int64_t prompt_length = 0;               // output tokens start here in `history`
};

// Keeps scratch memory between calls; one per thread. Same arguments, same result.
class Sampler {
 public:
  // result.sequence is left for the caller. NaN or +inf among the logits gives non_finite; -inf is a masked token; so
  // does a row where everything is masked.
  scheduler::SampledToken sample(const SampleArgs& args);

 private:
  std::span<const float> adjust(const SampleArgs& args);
  scheduler::TokenId draw(const SampleArgs& args, std::span<const float> logits, float max);

  LogitAdjuster adjuster_;
  std::vector<float> adjusted_;  // [vocab_size]
  std::vector<float> weights_;   // [vocab_size]
  std::vector<double> block_sums_;
  std::vector<std::int32_t> order_;
};

// The `count` most likely tokens, most likely first, lower id first among equals; logprob = logit - log_sum_exp.
std::vector<scheduler::TokenLogprob> top_logprobs(std::span<const float> logits, float log_sum_exp, std::int32_t count);

}  // namespace trireme::sampling
