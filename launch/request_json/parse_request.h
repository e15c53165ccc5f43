// A request in JSON → RequestSpec, with strict types and ranges, so that nothing is narrowed, guessed or allocated
// before it is checked. Three forms: the two of OpenAI's API, and Trireme's own flat one. README lists the fields.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "launch/request_json/field_reader.h"
#include "launch/request_spec.h"

namespace trireme::launch {

enum class RequestForm {
  kPlain,        // prompt, prompt_ids or messages
  kCompletions,  // POST /v1/completions
  kChat,         // POST /v1/chat/completions
};

struct ParsedRequest {
  RequestSpec spec;                        // with the first prompt
  std::vector<PromptSource> more_prompts;  // of a completions request with a list of prompts
  std::string model;                       // as the client names it; may be empty
  bool stream = false;
  std::vector<std::string> unknown_fields;  // ignored
};

// What a request that says nothing of it gets: OpenAI's defaults.
RequestSpec default_spec(RequestForm form);

// `defaults` stand where the request is silent. `ignored` names fields that belong to the caller's envelope.
std::variant<ParsedRequest, RequestError> parse_request(const nlohmann::json& body, RequestForm form,
                                                        const RequestSpec& defaults,
                                                        const std::vector<std::string>& ignored = {});

}  // namespace trireme::launch
