// RequestSpec: what a user asks for, from a command line or from JSON, before it meets a model; RequestBinder makes
// the scheduler's request of it: text becomes tokens, and ids are checked against the model's vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "launch/chat_prompt.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/config/config.h"
#include "runtime/engine/rank_runtime.h"
#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/request.h"

namespace trireme::launch {

// Text (special tokens in it are recognised), token ids, or a conversation for the model's chat template.
using PromptSource = std::variant<std::string, std::vector<std::int32_t>, std::vector<ChatMessage>>;

struct RequestSpec {
  PromptSource prompt;
  std::string template_variables;  // JSON object of what else a chat template gets; empty: nothing
  scheduler::SamplingParams sampling;
  std::optional<std::int32_t> max_tokens;  // nothing: until the model's context is full
  std::int32_t min_tokens = 0;
  std::int32_t num_choices = 1;
  std::int32_t priority = 0;
  std::vector<std::string> stop;
  std::vector<std::int32_t> stop_token_ids;  // beside the model's own
  bool ignore_eos = false;
  bool prompt_logprobs = false;
  std::string adapter;  // name of one of the model's adapters; empty: none
};

class RequestBinder {
 public:
  explicit RequestBinder(const engine::RankRuntime& runtime);  // which outlives this
  // Both outlive this. `vocab_size`: of the model, whose embedding may have more rows than the tokenizer has tokens.
  RequestBinder(const checkpoint::Checkpoint& checkpoint, const tokenizer::Tokenizer& tokenizer,
                std::int32_t vocab_size, std::int32_t max_context, std::vector<config::Adapter> adapters);

  // Any thread. Errors: text that is not UTF-8, an id outside the vocabulary, an empty prompt, a conversation that
  // the model's template refuses or for which it has none, an adapter that is not loaded.
  base::Result<scheduler::Request> bind(RequestSpec spec) const;

  // The model's chat template, or why it has none.
  const base::Result<ChatPrompt>& chat() const { return chat_; }

 private:
  base::Result<std::vector<std::int32_t>> prompt_tokens(RequestSpec& spec) const;  // takes the prompt out of it
  base::Status check_ids(const scheduler::Request& request) const;
  base::Result<std::uint32_t> adapter_number(const std::string& name) const;

  const tokenizer::Tokenizer& tokenizer_;
  const base::Result<ChatPrompt> chat_;
  const std::int32_t vocab_size_, max_context_;
  const std::vector<config::Adapter> adapters_;
};

}  // namespace trireme::launch
