#include "launch/batch/output_row.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "launch/generation_output.h"
#include "launch/request_json/response_json.h"

namespace trireme::launch {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kPlainBegin = "{\"line\":";
constexpr std::string_view kOpenAiBegin = "{\"id\":\"batch_req_";
constexpr int kBadRequest = 400, kOk = 200, kServerError = 500;

ordered_json id_json(const RowId& id) {
  if (const auto* text = std::get_if<std::string>(&id)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&id)) return *number;
  return nullptr;
}

// {"id": …, "custom_id": …, "response": {"status_code", "request_id", "body"}, "error": null}
std::string openai_row(const RowIdentity& identity, int status, ordered_json body) {
  const std::string line = std::to_string(identity.line);
  ordered_json row;
  row["id"] = "batch_req_" + line;
  row["custom_id"] = id_json(identity.id);
  row["response"] = {{"status_code", status}, {"request_id", "req_" + line}, {"body", std::move(body)}};
  row["error"] = nullptr;
  return to_line(row);
}

std::string row_of_error(const RowIdentity& identity, const RequestError& error, int status) {
  if (identity.form == BatchForm::kOpenAi) {
    ordered_json body = error_body(error);
    if (status != kBadRequest) body["error"]["type"] = "server_error";
    return openai_row(identity, status, std::move(body));
  }
  ordered_json row = {{"line", identity.line}, {"id", id_json(identity.id)}};
  row["error"] = {{"message", error.message}, {"field", nullptr}};
  if (!error.field.empty()) row["error"]["field"] = error.field;
  return to_line(row);
}

}  // namespace

bool all_finite(const std::vector<engine::Generation>& choices) {
  for (const engine::Generation& choice : choices) {
    if (choice.finish_reason == scheduler::FinishReason::kNonFinite) return false;
  }
  return true;
}

std::string result_row(const RowContext& context, const RowIdentity& identity, const scheduler::Request& request,
                       const std::vector<engine::Generation>& choices) {
  if (!all_finite(choices)) {
    return row_of_error(identity, {"", "the model's logits are not finite for this prompt"}, kServerError);
  }
  if (identity.form == BatchForm::kOpenAi) {
    const std::string& model = identity.model.empty() ? context.model : identity.model;
    const ResponseIdentity response{std::to_string(identity.line), model, context.created};
    return openai_row(identity, kOk,
                      response_body(identity.request_form, response, request, choices, context.tokenizer));
  }
  ordered_json row = {{"line", identity.line}, {"id", id_json(identity.id)}};
  row.update(generation_fields(request, choices));
  row["seed"] = request.sampling.seed;
  return to_line(row);
}

std::string error_row(const RowIdentity& identity, const RequestError& error) {
  return row_of_error(identity, error, kBadRequest);
}

std::optional<std::uint64_t> line_of_row(std::string_view row) {
  const bool plain = row.starts_with(kPlainBegin);
  if (!plain && !row.starts_with(kOpenAiBegin)) return std::nullopt;
  row.remove_prefix(plain ? kPlainBegin.size() : kOpenAiBegin.size());
  std::uint64_t line = 0;
  const auto [end, code] = std::from_chars(row.data(), row.data() + row.size(), line);
  const bool ends = end != row.data() + row.size() && *end == (plain ? ',' : '"');
  if (code != std::errc() || !ends) return std::nullopt;
  return line;
}

bool is_whole_row(std::string_view row) {
  // The library takes a NUL byte for the end of the text.
  return line_of_row(row).has_value() && row.find('\0') == std::string_view::npos && nlohmann::json::accept(row);
}

bool is_error_row(std::string_view row) {
  const std::size_t head = 8192;  // beyond an id of any length, escaped
  const std::string_view begin = row.substr(0, head);
  if (row.starts_with(kPlainBegin)) return begin.find(",\"error\":{") != std::string_view::npos;
  return begin.find("\"response\":{\"status_code\":200,") == std::string_view::npos;
}

}  // namespace trireme::launch
