// trireme score: perplexity of a text, window by window. Each window of tokens is scored on its own (after a BOS where
// the model uses one): perplexity = exp(mean negative log-likelihood of its tokens).
#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/refusal.h"
#include "launch/session.h"
#include "launch/text_input.h"
#include "runtime/engine/agreement.h"

namespace trireme::launch {
namespace {

struct ScoreOptions {
  std::string file;
  std::int32_t window = 512;
  std::int32_t max_windows = 0;
  bool json = false;
};

struct WindowScore {
  double negative_log_likelihood = 0.0;  // summed over num_tokens
  std::size_t num_tokens = 0;
  double mean() const { return negative_log_likelihood / static_cast<double>(num_tokens); }
};

// The text's tokens cut into windows, each behind a BOS where the model wants one. A last, shorter window counts only
// if there is no other.
base::Result<std::vector<std::vector<std::int32_t>>> cut_windows(const std::string& text, const ScoreOptions& options,
                                                                 const tokenizer::Tokenizer& tokenizer) {
  tokenizer::EncodeOptions plain;
  plain.special = tokenizer::SpecialTokens::kAsText;
  const auto with_special = tokenizer.encode("", {});
  plain.add_special = false;
  const auto tokens = tokenizer.encode(text, plain);
  if (!with_special) return with_special.error();
  if (!tokens) return tokens.error();
  std::vector<std::vector<std::int32_t>> windows;
  const auto size = static_cast<std::size_t>(options.window);
  for (std::size_t begin = 0; begin < tokens->size(); begin += size) {
    const std::size_t end = std::min(begin + size, tokens->size());
    const bool whole = end - begin == size || windows.empty();
    const bool wanted = options.max_windows == 0 || windows.size() < static_cast<std::size_t>(options.max_windows);
    if (!whole || !wanted) break;
    std::vector<std::int32_t> window = *with_special;
    window.insert(window.end(), tokens->begin() + static_cast<std::ptrdiff_t>(begin),
                  tokens->begin() + static_cast<std::ptrdiff_t>(end));
    windows.push_back(std::move(window));
  }
  if (windows.empty() || windows.front().size() < 2) {
    return base::invalid_argument(options.file + ": too few tokens to score");
  }
  return windows;
}

base::Result<std::vector<WindowScore>> score_windows(engine::RankRuntime& runtime,
                                                     const std::vector<std::vector<std::int32_t>>& windows) {
  std::vector<WindowScore> scores(windows.size());
  std::size_t unfinished = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    scheduler::Request request;
    request.prompt = windows[i];
    request.max_tokens = 0;
    request.prompt_logprobs = true;
    const auto collect = [&, i](const engine::GenerationEvent& event) {
      for (const float logprob : event.prompt_logprobs) scores[i].negative_log_likelihood -= logprob;
      scores[i].num_tokens += event.prompt_logprobs.size();
      if (event.finish_reason != scheduler::FinishReason::kNone) --unfinished;
    };
    const auto id = runtime.engine().submit(std::move(request), collect, std::chrono::steady_clock::now());
    if (!id) return id.error();
    ++unfinished;
  }
  while (unfinished > 0 || !runtime.engine().idle()) runtime.pump();
  for (const WindowScore& score : scores) {
    if (score.num_tokens > 0 && std::isfinite(score.negative_log_likelihood)) continue;
    return base::Error{base::ErrorCode::kUnsupported, "the model's logits are not finite for this text"};
  }
  return scores;
}

void print_scores(const std::vector<WindowScore>& scores, bool json) {
  WindowScore all;
  nlohmann::ordered_json windows = nlohmann::ordered_json::array();
  for (const WindowScore& score : scores) {
    all.negative_log_likelihood += score.negative_log_likelihood;
    all.num_tokens += score.num_tokens;
    windows.push_back(score.mean());
  }
  if (json) {
    const nlohmann::ordered_json object = {
        {"mean_nll_per_window", windows}, {"tokens", all.num_tokens}, {"perplexity", std::exp(all.mean())}};
    std::cout << object.dump() << std::endl;
    return;
  }
  const auto line = [](const WindowScore& score) {
    return std::to_string(score.num_tokens) + " tokens, perplexity " + std::to_string(std::exp(score.mean())) + "\n";
  };
  for (std::size_t i = 0; i < scores.size(); ++i) std::cout << "window " << i + 1 << ": " << line(scores[i]);
  std::cout << "overall: " << line(all) << std::flush;
}

int score(const CommandContext& context, engine::RankRuntime& runtime, const ScoreOptions& options,
          const std::string& text) {
  const auto windows = cut_windows(text, options, runtime.tokenizer());
  if (!windows) return refuse(context, windows.error());
  const auto scores = score_windows(runtime, *windows);
  if (!scores) return refuse(context, scores.error());
  print_scores(*scores, options.json);
  return kSuccess;
}

}  // namespace

CommandFunction define_score(CLI::App& app) {
  const auto options = std::make_shared<ScoreOptions>();
  app.add_option("--file", options->file, "text to score; - for standard input")->required();
  app.add_option("--window", options->window, "tokens of a window")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--max-windows", options->max_windows, "so many windows at most; 0: all")
      ->check(CLI::Range(0, 1 << 30));
  app.add_flag("--json", options->json, "print one JSON object");
  return [options](const CommandContext& context) {
    // Read before the model is loaded, by rank 0 alone.
    const base::Result<std::string> text = context.is_root() ? read_text(options->file) : std::string();
    const base::Status mine = text ? base::ok_status() : base::Status(text.error());
    if (const auto agreed = engine::agree(context.world, mine); !agreed) {
      return refuse(context, text ? agreed.error() : text.error());
    }
    return run_session(context, [&](engine::RankRuntime& runtime) { return score(context, runtime, *options, *text); });
  };
}

}  // namespace trireme::launch
