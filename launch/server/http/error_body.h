// Responses in JSON, and the error objects of OpenAI's API: {"error":{"message","type","param","code"}}.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "launch/server/core/refusal.h"
#include "launch/server/http/exchange.h"

namespace trireme::http {

// Status 200. Text that is not UTF-8 is replaced.
HttpResponse json_response(const nlohmann::ordered_json& body);

// `param`: the field that is wrong; empty: none. Text that is not UTF-8 is replaced; long text is cut.
std::string error_body(int status, const std::string& message, const std::string& param = "");
HttpResponse error_response(int status, const std::string& message, const std::string& param = "");
HttpResponse refusal_response(const server::Refusal& refusal);
int status_of(server::Refusal::Kind kind);

// The reason phrase of a status; "Error" if it is none that the server uses.
std::string reason_phrase(int status);

}  // namespace trireme::http
