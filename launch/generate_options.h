// The options of `trireme generate`, and the request that they make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/request_spec.h"
#include "launch/sampling_options.h"

namespace CLI {
class App;
}

namespace trireme::launch {

struct GenerateOptions : SamplingOptions {
  std::optional<std::string> prompt;
  std::vector<std::int32_t> prompt_ids;
  bool chat = false;
  std::string system;              // system message of a chat; empty: the template's own
  std::string template_variables;  // JSON object of what else its template gets; empty: nothing
  std::int32_t num_choices = 1;
  bool prompt_logprobs = false;
  std::string adapter;  // empty: none
  bool json = false;
};

// Registers the options; `options` outlives `app`. Ranges are checked while parsing.
void add_generate_options(CLI::App& app, GenerateOptions& options);

// Combinations that the parser cannot refuse on its own.
base::Status check_generate_options(const GenerateOptions& options);

// The conversation so far: the system message, if there is one.
std::vector<ChatMessage> first_messages(const GenerateOptions& options);

// What the options ask for, with a prompt of their own; a conversation puts its own in the place of it.
RequestSpec request_spec(const GenerateOptions& options);

}  // namespace trireme::launch
