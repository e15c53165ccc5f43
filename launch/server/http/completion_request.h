// A POST of /v1/completions or /v1/chat/completions → CompletionCall.
#pragma once

#include <string>
#include <variant>

#include "launch/request_json/parse_request.h"
#include "launch/server/core/served_model.h"
#include "launch/server/http/completion_call.h"

namespace trireme::http {

// What is wrong, and the status that says so.
struct CallError {
  int status = 400;
  launch::RequestError error;
};

// Any thread. `random_seed` is the seed of a request that gives none.
std::variant<CompletionCall, CallError> read_call(const std::string& body, launch::RequestForm form,
                                                  const server::ServedModel& model, std::uint64_t random_seed);

}  // namespace trireme::http
