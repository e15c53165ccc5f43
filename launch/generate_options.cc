#include "launch/generate_options.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace trireme::launch {

void add_generate_options(CLI::App& app, GenerateOptions& options) {
  scheduler::SamplingParams& sampling = options.sampling;
  app.add_option("--prompt", options.prompt, "text to continue; special tokens in it are recognised");
  app.add_option("--prompt-ids", options.prompt_ids, "token ids to continue: 1,2,3")->delimiter(',');
  app.add_flag("--chat", options.chat, "apply the model's chat template; without --prompt one turn per line of input");
  app.add_option("--system", options.system, "system message of the chat");
  app.add_option("--chat-template-kwargs", options.template_variables,
                 "what else the chat template gets, such as '{\"enable_thinking\": false, \"tools\": []}'")
      ->type_name("JSON");
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
  app.add_flag("--prompt-logprobs", options.prompt_logprobs, "log-probability of each prompt token");
  app.add_option("--n", options.num_choices, "so many outputs of one prompt")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--json", options.json, "print one JSON object instead of streaming text");
}

base::Status check_generate_options(const GenerateOptions& options) {
  const bool has_ids = !options.prompt_ids.empty();
  if (options.prompt && has_ids) return base::invalid_argument("--prompt and --prompt-ids exclude each other");
  if (options.chat && has_ids) return base::invalid_argument("--chat takes --prompt, not --prompt-ids");
  if (!options.chat && !options.prompt && !has_ids) {
    return base::invalid_argument("nothing to continue: give --prompt, --prompt-ids or --chat");
  }
  if (!options.system.empty() && !options.chat) return base::invalid_argument("--system needs --chat");
  if (!options.template_variables.empty() && !options.chat) {
    return base::invalid_argument("--chat-template-kwargs needs --chat");
  }
  const bool conversation = options.chat && !options.prompt;
  if (conversation && (options.json || options.num_choices > 1 || options.prompt_logprobs)) {
    return base::invalid_argument("--json, --n and --prompt-logprobs need a --prompt");
  }
  if (options.prompt_logprobs && !options.json) return base::invalid_argument("--prompt-logprobs needs --json");
  if (options.sampling.num_logprobs >= 0 && !options.json) return base::invalid_argument("--logprobs needs --json");
  if (!std::isfinite(options.sampling.temperature))
    return base::invalid_argument("--temperature must be a finite number");
  for (const std::string& stop : options.stop) {
    if (stop.empty()) return base::invalid_argument("--stop: an empty text would stop at once");
  }
  return base::ok_status();
}

base::Result<scheduler::Request> make_request(const GenerateOptions& options, std::vector<std::int32_t> prompt_ids,
                                              const tokenizer::Tokenizer& tokenizer, std::int32_t vocab_size) {
  if (prompt_ids.empty()) return base::invalid_argument("the prompt is empty, and this model adds no token of its own");
  for (const std::int32_t id : prompt_ids) {
    if (id >= 0 && id < vocab_size) continue;
    return base::invalid_argument("token " + std::to_string(id) + " of the prompt is none of the model's " +
                                  std::to_string(vocab_size) + " tokens");
  }
  scheduler::Request request;
  request.prompt = std::move(prompt_ids);
  request.sampling = options.sampling;
  request.max_tokens = options.max_tokens;
  request.num_choices = options.num_choices;
  request.stop = options.stop;
  request.prompt_logprobs = options.prompt_logprobs;
  if (!options.ignore_eos) request.stop_token_ids = tokenizer.end_of_generation();
  return request;
}

}  // namespace trireme::launch
