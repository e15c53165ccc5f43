// trireme score: perplexity of a text, window by window. Each window of tokens is scored on its own (after a BOS where
// the model uses one): perplexity = exp(mean negative log-likelihood of its tokens).
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/perplexity.h"
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

void print_scores(const std::vector<WindowScore>& scores, bool json) {
  const WindowScore all = sum_of(scores);
  nlohmann::ordered_json windows = nlohmann::ordered_json::array();
  for (const WindowScore& score : scores) windows.push_back(score.mean());
  if (json) {
    const nlohmann::ordered_json object = {
        {"mean_nll_per_window", windows}, {"tokens", all.num_tokens}, {"perplexity", all.perplexity()}};
    std::cout << object.dump() << std::endl;
    return;
  }
  const auto line = [](const WindowScore& score) {
    return std::to_string(score.num_tokens) + " tokens, perplexity " + std::to_string(score.perplexity()) + "\n";
  };
  for (std::size_t i = 0; i < scores.size(); ++i) std::cout << "window " << i + 1 << ": " << line(scores[i]);
  std::cout << "overall: " << line(all) << std::flush;
}

int score(const CommandContext& context, engine::RankRuntime& runtime, const ScoreOptions& options,
          const std::string& text) {
  const auto windows = cut_windows(text, {options.window, options.max_windows}, runtime.tokenizer());
  if (!windows) return refuse(context, {windows.error().code, options.file + ": " + windows.error().message});
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
