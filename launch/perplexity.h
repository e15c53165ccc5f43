// Perplexity of a text under the running model, window by window: each window of tokens is scored on its own (after a
// BOS where the model uses one); perplexity = exp(mean negative log-likelihood of its tokens).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/engine/rank_runtime.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::launch {

struct WindowShape {
  std::int32_t tokens = 512;
  std::int32_t max_windows = 0;  // 0: all
};

struct WindowScore {
  double negative_log_likelihood = 0.0;  // summed over num_tokens
  std::size_t num_tokens = 0;
  double mean() const { return negative_log_likelihood / static_cast<double>(num_tokens); }
  double perplexity() const { return std::exp(mean()); }
};

WindowScore sum_of(const std::vector<WindowScore>& scores);

// The text's tokens cut into windows, each behind a BOS where the model wants one. A last, shorter window counts only
// if there is no other. Errors: no two tokens, a text that is not UTF-8.
base::Result<std::vector<std::vector<std::int32_t>>> cut_windows(const std::string& text, const WindowShape& shape,
                                                                 const tokenizer::Tokenizer& tokenizer);

// Rank 0. Errors: a window that exceeds the context, logits that are not finite.
base::Result<std::vector<WindowScore>> score_windows(engine::RankRuntime& runtime,
                                                     const std::vector<std::vector<std::int32_t>>& windows);

}  // namespace trireme::launch
