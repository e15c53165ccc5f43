#include "launch/server/http/completion_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/checkpoint/bounded_json.h"

namespace trireme::http {
namespace {

using launch::FieldReader;
using launch::Null;
using launch::ParsedRequest;
using launch::RequestError;
using nlohmann::json;

constexpr std::size_t kMaxChoices = 1024;  // over all prompts of a request

CallError wrong(std::string field, std::string message) {
  return {400, RequestError{std::move(field), std::move(message)}};
}

// How the answer is to come, which does not concern the tokens.
std::optional<RequestError> read_delivery(json& body, CompletionCall& call) {
  FieldReader reader(body);
  call.stream = reader.boolean("stream", Null::kAbsent).value_or(false);
  if (!call.is_chat()) {
    call.echo = reader.boolean("echo", Null::kAbsent).value_or(false);
    body.erase("echo");
  }
  const json* options = reader.value("stream_options");
  if (reader.error()) return reader.error();
  if (options == nullptr) return std::nullopt;
  if (!call.stream) return RequestError{"stream_options", "stream_options: needs stream: true"};
  if (!options->is_object()) return RequestError{"stream_options", "stream_options: must be an object"};
  FieldReader fields(*options);
  call.include_usage = fields.boolean("include_usage", Null::kAbsent).value_or(false);
  call.continuous_usage = fields.boolean("continuous_usage_stats", Null::kAbsent).value_or(false);
  if (fields.error()) return RequestError{"stream_options", "stream_options." + fields.error()->message};
  return std::nullopt;
}

// One scheduler's request per prompt; all else is the same.
std::optional<CallError> bind_prompts(ParsedRequest parsed, const server::ServedModel& model, CompletionCall& call) {
  std::vector<launch::PromptSource> prompts;
  prompts.push_back(std::move(parsed.spec.prompt));
  std::move(parsed.more_prompts.begin(), parsed.more_prompts.end(), std::back_inserter(prompts));
  if (prompts.size() * static_cast<std::size_t>(parsed.spec.num_choices) > kMaxChoices) {
    return wrong("n", "n: prompts times n exceed " + std::to_string(kMaxChoices));
  }
  for (launch::PromptSource& prompt : prompts) {
    launch::RequestSpec spec = parsed.spec;
    spec.prompt = std::move(prompt);
    spec.prompt_logprobs = call.echo && spec.sampling.num_logprobs >= 0;
    auto request = model.binder->bind(std::move(spec));
    if (!request) return wrong(call.is_chat() ? "messages" : "prompt", request.error().message);
    call.requests.push_back(std::move(request).value());
  }
  return std::nullopt;
}

}  // namespace

std::variant<CompletionCall, CallError> read_call(const std::string& text, launch::RequestForm form,
                                                  const server::ServedModel& model, std::uint64_t random_seed) {
  auto body = checkpoint::parse_bounded_json(text, "request");
  if (!body) return wrong("", body.error().message);
  if (!body->is_object()) return wrong("", "the request must be a JSON object");
  CompletionCall call;
  call.form = form;
  if (auto error = read_delivery(*body, call)) return CallError{400, std::move(*error)};
  auto parsed = launch::parse_request(*body, form, launch::default_spec(form));
  if (auto* error = std::get_if<RequestError>(&parsed)) return CallError{400, std::move(*error)};
  ParsedRequest& request = std::get<ParsedRequest>(parsed);
  auto choice = model.choose(request.model);
  if (!choice) return CallError{404, {"model", "the model does not exist here; see /v1/models"}};
  std::string& adapter = request.spec.adapter;
  if (!choice->adapter.empty() && !adapter.empty() && adapter != choice->adapter) {
    return CallError{400, {"adapter", "\"model\" names another adapter"}};
  }
  if (adapter.empty()) adapter = std::move(choice->adapter);
  call.model = std::move(choice->name);
  const auto seed = body->find("seed");
  const bool seeded = seed != body->end() && !seed->is_null();
  call.determined = seeded || request.spec.sampling.temperature == 0.0f;
  // Greedy requests are equal whatever their seed.
  if (!seeded) request.spec.sampling.seed = call.determined ? 0 : random_seed;
  if (auto error = bind_prompts(std::move(request), model, call)) return std::move(*error);
  return call;
}

}  // namespace trireme::http
