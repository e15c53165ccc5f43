// The fields of a request that hold its prompt.
#pragma once

#include <vector>

#include "launch/request_json/parse_request.h"

namespace trireme::launch {

// All prompts of the request, at least one unless `reader` has an error.
std::vector<PromptSource> read_prompt_fields(FieldReader& reader, RequestForm form);

}  // namespace trireme::launch
