#include "launch/server/http/error_body.h"

#include <nlohmann/json.hpp>

#include "launch/generation_output.h"

namespace trireme::http {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxMessageBytes = 1000;

const char* type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 404: return "not_found_error";
    case 429: return "rate_limit_error";
    case 503: return "unavailable_error";
    default: return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

}  // namespace

std::string reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Error";
  }
}

HttpResponse json_response(const ordered_json& body) {
  HttpResponse response;
  response.body = launch::to_line(body);
  return response;
}

std::string error_body(int status, const std::string& message, const std::string& param) {
  const bool cut = message.size() > kMaxMessageBytes;
  ordered_json error;
  error["message"] = cut ? message.substr(0, kMaxMessageBytes) + "…" : message;
  error["type"] = type_of(status);
  error["param"] = param.empty() ? ordered_json(nullptr) : ordered_json(param);
  error["code"] = status;
  return launch::to_line({{"error", std::move(error)}});
}

HttpResponse error_response(int status, const std::string& message, const std::string& param) {
  HttpResponse response;
  response.status = status;
  response.body = error_body(status, message, param);
  return response;
}

int status_of(server::Refusal::Kind kind) {
  switch (kind) {
    case server::Refusal::Kind::kInvalid: return 400;
    case server::Refusal::Kind::kNotFound: return 404;
    case server::Refusal::Kind::kOverloaded: return 429;
    case server::Refusal::Kind::kShuttingDown: return 503;
  }
  return 500;
}

HttpResponse refusal_response(const server::Refusal& refusal) {
  HttpResponse response = error_response(status_of(refusal.kind), refusal.message);
  if (refusal.retry_after.count() == 0) return response;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(refusal.retry_after).count();
  response.headers.emplace_back("Retry-After", std::to_string(seconds));
  response.headers.emplace_back("retry-after-ms", std::to_string(refusal.retry_after.count()));
  return response;
}

}  // namespace trireme::http
