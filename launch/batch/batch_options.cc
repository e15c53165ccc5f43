#include "launch/batch/batch_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/config/print.h"

namespace trireme::launch {
namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Length first, so that no two lists look the same.
std::string list_text(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + ":" + text + ",";
  return all.empty() ? "none" : all;
}

}  // namespace

void add_batch_options(CLI::App& app, BatchOptions& options) {
  app.add_option("--input", options.input, "JSON Lines: a request per line")->required();
  app.add_option("--output", options.output, "JSON Lines: a row per line of input; an interrupted job goes on")
      ->required();
  app.add_flag("--overwrite", options.overwrite, "begin anew, whatever the output holds");
  app.add_option("--report", options.report, "write the report at the end to this file, as JSON");
  app.add_option("--steps", options.steps, "write every step's composition and times to this file, as CSV");
  app.add_option("--time-limit", options.time_limit_s,
                 "seconds from the start on after which the job ends; see --drain")
      ->check(CLI::Range(1.0, 1e8));
  app.add_option("--drain", options.drain_s,
                 "seconds that running requests are given to end in, after SIGUSR1 or before the time limit")
      ->check(CLI::Range(0.0, 1e8))
      ->capture_default_str();
  add_sampling_options(app, options);
}

base::Status check_batch_options(const BatchOptions& options) {
  if (options.input == options.output) return base::invalid_argument("--input and --output are the same file");
  return check_sampling_options(options);
}

RequestSpec default_spec(const BatchOptions& options) {
  RequestSpec spec;
  spec.sampling = options.sampling;
  spec.max_tokens = options.max_tokens;
  spec.stop = options.stop;
  spec.ignore_eos = options.ignore_eos;
  return spec;
}

std::vector<std::pair<std::string, std::string>> result_settings(const BatchOptions& options,
                                                                 const config::Config& config) {
  const scheduler::SamplingParams& sampling = options.sampling;
  std::vector<std::pair<std::string, std::string>> settings{
      {"--max-tokens", std::to_string(options.max_tokens)},
      {"--temperature", number_text(sampling.temperature)},
      {"--top-k", std::to_string(sampling.top_k)},
      {"--top-p", number_text(sampling.top_p)},
      {"--min-p", number_text(sampling.min_p)},
      {"--repetition-penalty", number_text(sampling.repetition_penalty)},
      {"--seed", std::to_string(sampling.seed)},
      {"--stop", list_text(options.stop)},
      {"--ignore-eos", options.ignore_eos ? "true" : "false"},
      {"--logprobs", std::to_string(sampling.num_logprobs)}};
  std::vector<std::string> adapters;
  for (const config::Adapter& adapter : config.model.adapters) adapters.push_back(adapter.name);
  settings.emplace_back("names of --adapter", list_text(adapters));
  for (const char* key : {"model.weights", "model.max_context", "kv_cache.key", "kv_cache.value"}) {
    settings.emplace_back(key, config::value_text(config, key));
  }
  return settings;
}

}  // namespace trireme::launch
