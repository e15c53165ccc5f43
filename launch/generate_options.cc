#include "launch/generate_options.h"

#include <CLI/CLI.hpp>

namespace trireme::launch {

void add_generate_options(CLI::App& app, GenerateOptions& options) {
  app.add_option("--prompt", options.prompt, "text to continue; special tokens in it are recognised");
  app.add_option("--prompt-ids", options.prompt_ids, "token ids to continue: 1,2,3")->delimiter(',');
  app.add_flag("--chat", options.chat, "apply the model's chat template; without --prompt one turn per line of input");
  app.add_option("--system", options.system, "system message of the chat");
  app.add_option("--chat-template-kwargs", options.template_variables,
                 "what else the chat template gets, such as '{\"enable_thinking\": false, \"tools\": []}'")
      ->type_name("JSON");
  add_sampling_options(app, options);
  app.add_option("--use-adapter", options.adapter, "name of the adapter to run with (see --adapter)");
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
  return check_sampling_options(options);
}

std::vector<ChatMessage> first_messages(const GenerateOptions& options) {
  if (options.system.empty()) return {};
  return {{"system", options.system}};
}

RequestSpec request_spec(const GenerateOptions& options) {
  RequestSpec spec;
  if (!options.prompt_ids.empty()) {
    spec.prompt = options.prompt_ids;
  } else if (!options.chat) {
    spec.prompt = options.prompt.value_or("");
  } else {
    std::vector<ChatMessage> messages = first_messages(options);
    messages.push_back({"user", options.prompt.value_or("")});
    spec.prompt = std::move(messages);
  }
  spec.template_variables = options.template_variables;
  spec.sampling = options.sampling;
  spec.max_tokens = options.max_tokens;
  spec.num_choices = options.num_choices;
  spec.stop = options.stop;
  spec.ignore_eos = options.ignore_eos;
  spec.prompt_logprobs = options.prompt_logprobs;
  spec.adapter = options.adapter;
  return spec;
}

}  // namespace trireme::launch
