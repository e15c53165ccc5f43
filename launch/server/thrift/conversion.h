// The IDL's requests → the service's, and its output → the IDL's.
#pragma once

#include <trireme_types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "launch/server/core/request_service.h"
#include "launch/server/core/served_model.h"
#include "launch/server/thrift/call_error.h"
#include "runtime/engine/generation.h"

namespace trireme::thrift {

// With the checks and ranges of the HTTP endpoint. Any thread. `random_seed`: of a request that gives none.
std::variant<server::Submission, CallError> read_generate(const api::GenerateRequest& request,
                                                          const server::ServedModel& model, std::uint64_t random_seed);
// A request that only scores its prompt.
std::variant<server::Submission, CallError> read_score(const api::Prompt& prompt, const server::ServedModel& model);
// `add_special` concerns text alone.
std::variant<std::vector<std::int32_t>, CallError> read_tokens(const api::Prompt& prompt, bool add_special,
                                                               const server::ServedModel& model);

// `with_logprobs`: the request asked for them.
api::Token to_api(const scheduler::SampledToken& token, bool with_logprobs);
api::Piece to_api(const engine::GenerationEvent& event, bool with_logprobs);
api::Choice to_api(const engine::Generation& generation, bool with_logprobs);

}  // namespace trireme::thrift
