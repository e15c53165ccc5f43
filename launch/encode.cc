// trireme classify and trireme embed: texts through an encoder with a classification head, or to embeddings. One line
// of JSON per text. Rank 0 alone works; other ranks end at once.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/refusal.h"
#include "launch/text_input.h"
#include "runtime/encoder/text_encoder.h"

namespace trireme::launch {
namespace {

struct EncodeOptions {
  std::vector<std::string> texts;
  std::string file;
};

using PrintResults = base::Status (*)(encoder::TextEncoder& encoder, const std::vector<std::string>& texts);

// --text as it is, or each line of the file.
base::Result<std::vector<std::string>> read_texts(const EncodeOptions& options) {
  if (!options.texts.empty()) return options.texts;
  const auto text = read_text(options.file);
  if (!text) return text.error();
  std::vector<std::string> lines;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

base::Status print_scores(encoder::TextEncoder& encoder, const std::vector<std::string>& texts) {
  const auto results = encoder.classify(texts);
  if (!results) return results.error();
  const std::vector<std::string>& labels = encoder.description().labels;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const encoder::LabelScores& scores = (*results)[i];
    nlohmann::json by_label = nlohmann::json::object();
    for (std::size_t label = 0; label < labels.size(); ++label) by_label[labels[label]] = scores.probabilities[label];
    std::cout << nlohmann::json{{"text", texts[i]}, {"label", labels[scores.best]}, {"probabilities", by_label}}.dump()
              << "\n";
  }
  return base::ok_status();
}

base::Status print_embeddings(encoder::TextEncoder& encoder, const std::vector<std::string>& texts) {
  const auto embeddings = encoder.embed(texts);
  if (!embeddings) return embeddings.error();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::cout << nlohmann::json{{"text", texts[i]}, {"embedding", (*embeddings)[i]}}.dump() << "\n";
  }
  return base::ok_status();
}

kernels::WeightFormat format_of(config::Weights weights) {
  switch (weights) {
    case config::Weights::kF32: return kernels::WeightFormat::kF32;
    case config::Weights::kBF16: return kernels::WeightFormat::kBF16;
    case config::Weights::kInt8: return kernels::WeightFormat::kInt8;
    case config::Weights::kQ8: return kernels::WeightFormat::kQ8_0;
    default: return kernels::WeightFormat::kF16;  // an encoder is small, and its answers are compared
  }
}

int run_encode(const EncodeOptions& options, const CommandContext& context, PrintResults print) {
  if (!context.is_root()) return kSuccess;
  const config::Config& config = context.config.config;
  if (config.model.path.empty()) return refuse(context, base::invalid_argument("--model is needed"));
  const auto texts = read_texts(options);
  if (!texts) return refuse(context, texts.error());
  encoder::TextEncoderOptions encoder_options;
  encoder_options.weights = format_of(config.model.weights);
  encoder_options.num_threads = config.device.threads > 0
                                    ? config.device.threads
                                    : static_cast<std::int32_t>(std::max(1u, std::thread::hardware_concurrency()));
  encoder_options.reference = config.device.kind == config::Device::kReference;
  auto encoder = encoder::TextEncoder::open(config.model.path, encoder_options);
  if (!encoder) {
    context.log.error(encoder.error().message);
    return kFailure;
  }
  if (auto status = print(**encoder, *texts); !status) return refuse(context, status.error());
  std::cout << std::flush;
  return kSuccess;
}

CommandFunction define(CLI::App& app, PrintResults print) {
  const auto options = std::make_shared<EncodeOptions>();
  CLI::Option* text = app.add_option("--text", options->texts, "a text; may be given several times");
  text->allow_extra_args(false);
  app.add_option("--file", options->file, "a text per line; - or nothing for standard input")
      ->type_name("FILE")
      ->excludes(text);
  return [options, print](const CommandContext& context) { return run_encode(*options, context, print); };
}

}  // namespace

CommandFunction define_classify(CLI::App& app) {
  return define(app, print_scores);
}

CommandFunction define_embed(CLI::App& app) {
  return define(app, print_embeddings);
}

}  // namespace trireme::launch
