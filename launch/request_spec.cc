#include "launch/request_spec.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace trireme::launch {

RequestBinder::RequestBinder(const engine::RankRuntime& runtime)
    : RequestBinder(runtime.checkpoint(), runtime.tokenizer(), runtime.description().vocab_size,
                    runtime.plan().max_context, runtime.adapters()) {}

RequestBinder::RequestBinder(const checkpoint::Checkpoint& checkpoint, const tokenizer::Tokenizer& tokenizer,
                             std::int32_t vocab_size, std::int32_t max_context, std::vector<config::Adapter> adapters)
    : tokenizer_(tokenizer),
      chat_(ChatPrompt::from_checkpoint(checkpoint, tokenizer)),
      vocab_size_(vocab_size),
      max_context_(max_context),
      adapters_(std::move(adapters)) {}

base::Result<std::vector<std::int32_t>> RequestBinder::prompt_tokens(RequestSpec& spec) const {
  PromptSource& prompt = spec.prompt;
  if (auto* ids = std::get_if<std::vector<std::int32_t>>(&prompt)) return std::move(*ids);
  if (const auto* text = std::get_if<std::string>(&prompt)) return tokenizer_.encode(*text);
  if (!chat_) return chat_.error();
  const auto variables = parse_template_variables(spec.template_variables, "chat_template_kwargs");
  if (!variables) return variables.error();
  return chat_->tokens(std::get<std::vector<ChatMessage>>(prompt), *variables);
}

base::Status RequestBinder::check_ids(const scheduler::Request& request) const {
  const auto check = [&](std::int32_t id, const char* place) -> base::Status {
    if (id >= 0 && id < vocab_size_) return base::ok_status();
    return base::invalid_argument("token " + std::to_string(id) + " of the " + place + " is none of the model's " +
                                  std::to_string(vocab_size_) + " tokens");
  };
  for (const std::int32_t id : request.prompt) {
    if (auto status = check(id, "prompt"); !status) return status;
  }
  for (const std::int32_t id : request.stop_token_ids) {
    if (auto status = check(id, "stop_token_ids"); !status) return status;
  }
  for (const auto& [id, bias] : request.sampling.logit_bias) {
    if (auto status = check(id, "logit_bias"); !status) return status;
  }
  return base::ok_status();
}

base::Result<std::uint32_t> RequestBinder::adapter_number(const std::string& name) const {
  if (name.empty()) return std::uint32_t{0};
  std::string known;
  for (std::size_t i = 0; i < adapters_.size(); ++i) {
    if (adapters_[i].name == name) return static_cast<std::uint32_t>(i + 1);
    known += (known.empty() ? "" : ", ") + adapters_[i].name;
  }
  return base::invalid_argument("adapter '" + name + "' is not loaded (" + (known.empty() ? "none is" : known) + ")");
}

base::Result<scheduler::Request> RequestBinder::bind(RequestSpec spec) const {
  auto prompt = prompt_tokens(spec);
  if (!prompt) return prompt.error();
  if (prompt->empty()) return base::invalid_argument("the prompt is empty, and this model adds no token of its own");
  const auto adapter = adapter_number(spec.adapter);
  if (!adapter) return adapter.error();
  scheduler::Request request;
  request.adapter = *adapter;
  request.prompt = std::move(prompt).value();
  request.sampling = std::move(spec.sampling);
  request.max_tokens = spec.max_tokens.value_or(max_context_);
  request.min_tokens = spec.min_tokens;
  request.num_choices = spec.num_choices;
  request.priority = spec.priority;
  request.stop = std::move(spec.stop);
  request.stop_token_ids = std::move(spec.stop_token_ids);
  request.prompt_logprobs = spec.prompt_logprobs;
  if (auto status = check_ids(request); !status) return status.error();
  if (spec.ignore_eos) return request;
  const auto& ends = tokenizer_.end_of_generation();
  request.stop_token_ids.insert(request.stop_token_ids.end(), ends.begin(), ends.end());
  return request;
}

}  // namespace trireme::launch
