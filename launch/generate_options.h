// The options of `trireme generate`, and the request that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/request.h"

namespace CLI {
class App;
}

namespace trireme::launch {

struct GenerateOptions {
  std::optional<std::string> prompt;
  std::vector<std::int32_t> prompt_ids;
  bool chat = false;
  std::string system;              // system message of a chat; empty: the template's own
  std::string template_variables;  // JSON object of what else its template gets; empty: nothing
  scheduler::SamplingParams sampling;
  std::int32_t max_tokens = 256;
  std::int32_t num_choices = 1;
  std::vector<std::string> stop;
  bool ignore_eos = false;
  bool prompt_logprobs = false;
  bool json = false;
};

// Registers the options; `options` outlives `app`. Ranges are checked while parsing.
void add_generate_options(CLI::App& app, GenerateOptions& options);

// Combinations that the parser cannot refuse on its own.
base::Status check_generate_options(const GenerateOptions& options);

// The request for a prompt of these tokens. Error: an id that the model's vocabulary does not have.
base::Result<scheduler::Request> make_request(const GenerateOptions& options, std::vector<std::int32_t> prompt_ids,
                                              const tokenizer::Tokenizer& tokenizer, std::int32_t vocab_size);

}  // namespace trireme::launch
