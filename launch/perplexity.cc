#include "launch/perplexity.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace trireme::launch {

WindowScore sum_of(const std::vector<WindowScore>& scores) {
  WindowScore all;
  for (const WindowScore& score : scores) {
    all.negative_log_likelihood += score.negative_log_likelihood;
    all.num_tokens += score.num_tokens;
  }
  return all;
}

base::Result<std::vector<std::vector<std::int32_t>>> cut_windows(const std::string& text, const WindowShape& shape,
                                                                 const tokenizer::Tokenizer& tokenizer) {
  tokenizer::EncodeOptions plain;
  plain.special = tokenizer::SpecialTokens::kAsText;
  const auto with_special = tokenizer.encode("", {});
  plain.add_special = false;
  const auto tokens = tokenizer.encode(text, plain);
  if (!with_special) return with_special.error();
  if (!tokens) return tokens.error();
  std::vector<std::vector<std::int32_t>> windows;
  const auto size = static_cast<std::size_t>(shape.tokens);
  for (std::size_t begin = 0; begin < tokens->size(); begin += size) {
    const std::size_t end = std::min(begin + size, tokens->size());
    const bool whole = end - begin == size || windows.empty();
    const bool wanted = shape.max_windows == 0 || windows.size() < static_cast<std::size_t>(shape.max_windows);
    if (!whole || !wanted) break;
    std::vector<std::int32_t> window = *with_special;
    window.insert(window.end(), tokens->begin() + static_cast<std::ptrdiff_t>(begin),
                  tokens->begin() + static_cast<std::ptrdiff_t>(end));
    windows.push_back(std::move(window));
  }
  if (windows.empty() || windows.front().size() < 2) return base::invalid_argument("too few tokens to score");
  return windows;
}

base::Result<std::vector<WindowScore>> score_windows(engine::RankRuntime& runtime,
                                                     const std::vector<std::vector<std::int32_t>>& windows) {
  std::vector<scheduler::Request> requests(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    requests[i].prompt = windows[i];
    requests[i].max_tokens = 0;
    requests[i].prompt_logprobs = true;
    if (const auto fits = runtime.engine().check(requests[i]); !fits) return fits.error();
  }
  std::vector<WindowScore> scores(windows.size());
  std::size_t unfinished = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto collect = [&, i](const engine::GenerationEvent& event) {
      for (const float logprob : event.prompt_logprobs) scores[i].negative_log_likelihood -= logprob;
      scores[i].num_tokens += event.prompt_logprobs.size();
      if (event.finish_reason != scheduler::FinishReason::kNone) --unfinished;
    };
    const auto id = runtime.engine().submit(std::move(requests[i]), collect, std::chrono::steady_clock::now());
    TRIREME_CHECK(id.ok()) << id.error().message;  // it was checked
    ++unfinished;
  }
  while (unfinished > 0 || !runtime.engine().idle()) runtime.pump();
  for (const WindowScore& score : scores) {
    if (score.num_tokens > 0 && std::isfinite(score.negative_log_likelihood)) continue;
    return base::Error{base::ErrorCode::kUnsupported, "the model's logits are not finite for this text"};
  }
  return scores;
}

}  // namespace trireme::launch
