#include "launch/sampling_options.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace trireme::launch {

void add_sampling_options(CLI::App& app, SamplingOptions& options) {
  scheduler::SamplingParams& sampling = options.sampling;
  app.add_option("--max-tokens", options.max_tokens, "output tokens at most")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  app.add_option("--temperature", sampling.temperature, "0: the most likely token always")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--top-k", sampling.top_k, "only the K most likely tokens; 0: off")->check(CLI::Range(0, 1 << 30));
  app.add_option("--top-p", sampling.top_p, "only the most likely tokens that sum to P; 1: off")
      ->check(CLI::Range(1e-6, 1.0));
  app.add_option("--min-p", sampling.min_p, "only tokens at least P times as likely as the likeliest; 0: off")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--repetition-penalty", sampling.repetition_penalty, "over 1: tokens seen before become unlikelier")
      ->check(CLI::Range(1e-3, 1e3));
  app.add_option("--seed", sampling.seed, "of the random numbers; the same seed gives the same text")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--stop", options.stop, "text that ends the output; may be given several times")
      ->allow_extra_args(false);
  app.add_flag("--ignore-eos", options.ignore_eos, "go on after the model's end-of-sequence tokens");
  app.add_option("--logprobs", sampling.num_logprobs, "log-probabilities of each token and the N most likely ones")
      ->check(CLI::Range(0, 1 << 20));
}

base::Status check_sampling_options(const SamplingOptions& options) {
  if (!std::isfinite(options.sampling.temperature))
    return base::invalid_argument("--temperature must be a finite number");
  for (const std::string& stop : options.stop) {
    if (stop.empty()) return base::invalid_argument("--stop: an empty text would stop at once");
  }
  return base::ok_status();
}

}  // namespace trireme::launch
