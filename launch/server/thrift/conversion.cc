#include "launch/server/thrift/conversion.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "launch/request_json/parse_request.h"
#include "runtime/checkpoint/bounded_json.h"

namespace trireme::thrift {
namespace {

using nlohmann::json;
using scheduler::FinishReason;

CallError invalid(std::string field, std::string message) {
  return {CallError::Kind::kInvalid, std::move(message), std::move(field), 0};
}

// Before anything is made of it: a message can hold many more tokens than a context.
std::optional<CallError> too_long(const api::Prompt& prompt, const server::ServedModel& model) {
  if (prompt.tokens.size() <= static_cast<std::size_t>(model.max_context)) return std::nullopt;
  return invalid("prompt", "prompt: " + std::to_string(prompt.tokens.size()) + " tokens, the context has " +
                               std::to_string(model.max_context));
}

// The request in Trireme's own JSON form, which has one parser with all ranges.
class JsonRequest {
 public:
  void put_prompt(const api::Prompt& prompt) {
    if (prompt.__isset.text) body_["prompt"] = prompt.text;
    if (prompt.__isset.tokens) body_["prompt_ids"] = prompt.tokens;
    if (!prompt.__isset.messages) return;
    body_["messages"] = json::array();
    for (const api::ChatMessage& message : prompt.messages) {
      body_["messages"].push_back({{"role", message.role}, {"content", message.content}});
    }
  }
  void put_sampling(const api::SamplingParams& sampling) {
    put(sampling.__isset.temperature, "temperature", sampling.temperature);
    put(sampling.__isset.top_k, "top_k", sampling.top_k);
    put(sampling.__isset.top_p, "top_p", sampling.top_p);
    put(sampling.__isset.min_p, "min_p", sampling.min_p);
    put(sampling.__isset.repetition_penalty, "repetition_penalty", sampling.repetition_penalty);
    put(sampling.__isset.presence_penalty, "presence_penalty", sampling.presence_penalty);
    put(sampling.__isset.frequency_penalty, "frequency_penalty", sampling.frequency_penalty);
    put(sampling.__isset.seed, "seed", sampling.seed);
    put(sampling.__isset.logprobs, "logprobs", sampling.logprobs);
    if (!sampling.__isset.logit_bias) return;
    body_["logit_bias"] = json::object();
    for (const auto& [id, bias] : sampling.logit_bias) body_["logit_bias"][std::to_string(id)] = bias;
  }
  void put_rest(const api::GenerateRequest& request) {
    put(request.__isset.max_tokens, "max_tokens", request.max_tokens);
    put(request.__isset.min_tokens, "min_tokens", request.min_tokens);
    put(request.__isset.num_choices, "n", request.num_choices);
    put(request.__isset.stop, "stop", request.stop);
    put(request.__isset.ignore_eos, "ignore_eos", request.ignore_eos);
    put(request.__isset.priority, "priority", request.priority);
    if (!request.__isset.stop_token_ids) return;
    body_["stop_token_ids"] = json::array();
    // The library keeps numbers that are not negative apart, and the parser wants such.
    for (const std::int32_t id : request.stop_token_ids) body_["stop_token_ids"].push_back(number(id));
  }
  void put_adapter(const std::string& name) {
    if (!name.empty()) body_["adapter"] = name;
  }
  // Error: it is no JSON object.
  std::optional<CallError> put_template_variables(const std::string& text) {
    auto variables = checkpoint::parse_bounded_json(text, "template_variables");
    if (!variables || !variables->is_object()) return invalid("template_variables", "must be a JSON object");
    body_["chat_template_kwargs"] = std::move(variables).value();
    return std::nullopt;
  }

  // The bound request, or what is wrong with which field, under the IDL's names.
  std::variant<scheduler::Request, CallError> bind(const server::ServedModel& model) && {
    if (!not_finite_.empty()) return invalid(not_finite_, not_finite_ + ": must be a finite number");
    auto parsed =
        launch::parse_request(body_, launch::RequestForm::kPlain, launch::default_spec(launch::RequestForm::kPlain));
    if (auto* error = std::get_if<launch::RequestError>(&parsed)) {
      const std::string field = error->field == "n"            ? "num_choices"
                                : error->field == "prompt_ids" ? "prompt"
                                                               : error->field;
      return invalid(field, std::move(error->message));
    }
    body_ = {};
    auto request = model.binder->bind(std::move(std::get<launch::ParsedRequest>(parsed).spec));
    if (!request) return invalid("prompt", request.error().message);
    return std::move(request).value();
  }

 private:
  static json number(std::int64_t value) { return value < 0 ? json(value) : json(static_cast<std::uint64_t>(value)); }
  void put(bool is_set, const char* name, std::int64_t value) {
    if (is_set) body_[name] = number(value);
  }
  void put(bool is_set, const char* name, std::int32_t value) { put(is_set, name, std::int64_t{value}); }
  void put(bool is_set, const char* name, double value) {
    if (is_set && !std::isfinite(value)) not_finite_ = name;
    if (is_set) body_[name] = value;
  }
  void put(bool is_set, const char* name, bool value) {
    if (is_set) body_[name] = value;
  }
  void put(bool is_set, const char* name, const std::vector<std::string>& value) {
    if (is_set) body_[name] = value;
  }

  json body_ = json::object();
  std::string not_finite_;  // the field that is
};

std::vector<api::TokenLogprob> to_api(const std::vector<scheduler::TokenLogprob>& top) {
  std::vector<api::TokenLogprob> result(top.size());
  for (std::size_t i = 0; i < top.size(); ++i) {
    result[i].token = top[i].token;
    result[i].logprob = top[i].logprob;
  }
  return result;
}

api::FinishReason::type to_api(FinishReason reason) {
  if (reason == FinishReason::kStop) return api::FinishReason::STOP;
  return reason == FinishReason::kLength ? api::FinishReason::LENGTH : api::FinishReason::NONE;
}

}  // namespace

std::variant<server::Submission, CallError> read_generate(const api::GenerateRequest& request,
                                                          const server::ServedModel& model, std::uint64_t random_seed) {
  const auto choice = model.choose(request.__isset.model ? request.model : "");
  if (!choice) return CallError{CallError::Kind::kNotFound, "the model does not exist here; see listModels()", {}, 0};
  if (request.__isset.time_limit_ms && request.time_limit_ms <= 0) {
    return invalid("time_limit_ms", "time_limit_ms: must be more than 0");
  }
  if (auto error = too_long(request.prompt, model)) return std::move(*error);
  JsonRequest form;
  form.put_prompt(request.prompt);
  form.put_sampling(request.sampling);
  form.put_rest(request);
  form.put_adapter(choice->adapter);
  if (request.__isset.template_variables) {
    if (auto error = form.put_template_variables(request.template_variables)) return std::move(*error);
  }
  auto bound = std::move(form).bind(model);
  if (auto* error = std::get_if<CallError>(&bound)) return std::move(*error);
  server::Submission submission;
  submission.request = std::move(std::get<scheduler::Request>(bound));
  scheduler::SamplingParams& sampling = submission.request.sampling;
  submission.determined = request.sampling.__isset.seed || sampling.temperature == 0.0f;
  if (!submission.determined) sampling.seed = random_seed;
  // Greedy requests are equal whatever their seed.
  if (submission.determined && !request.sampling.__isset.seed) sampling.seed = 0;
  submission.dialogue = request.dialogue;
  if (request.__isset.time_limit_ms) {
    submission.request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(request.time_limit_ms);
  }
  return submission;
}

std::variant<server::Submission, CallError> read_score(const api::Prompt& prompt, const server::ServedModel& model) {
  if (auto error = too_long(prompt, model)) return std::move(*error);
  JsonRequest form;
  form.put_prompt(prompt);
  auto bound = std::move(form).bind(model);
  if (auto* error = std::get_if<CallError>(&bound)) return std::move(*error);
  server::Submission submission;
  submission.request = std::move(std::get<scheduler::Request>(bound));
  submission.request.max_tokens = 0;
  submission.request.prompt_logprobs = true;
  submission.request.sampling.num_logprobs = 0;
  submission.determined = true;
  return submission;
}

std::variant<std::vector<std::int32_t>, CallError> read_tokens(const api::Prompt& prompt, bool add_special,
                                                               const server::ServedModel& model) {
  if (prompt.__isset.text) {
    tokenizer::EncodeOptions options;
    options.add_special = add_special;
    auto tokens = model.tokenizer->encode(prompt.text, options);
    if (!tokens) return invalid("prompt", tokens.error().message);
    return std::move(tokens).value();
  }
  if (auto error = too_long(prompt, model)) return std::move(*error);
  JsonRequest form;
  form.put_prompt(prompt);
  auto bound = std::move(form).bind(model);
  if (auto* error = std::get_if<CallError>(&bound)) return std::move(*error);
  return std::move(std::get<scheduler::Request>(bound).prompt);
}

api::Token to_api(const scheduler::SampledToken& token, bool with_logprobs) {
  api::Token result;
  result.__set_id(token.token);
  if (!with_logprobs) return result;
  result.__set_logprob(token.logprob);
  result.__set_top(to_api(token.top));
  return result;
}

api::Piece to_api(const engine::GenerationEvent& event, bool with_logprobs) {
  api::Piece piece;
  piece.__set_choice(static_cast<std::int32_t>(event.choice_index));
  piece.__set_text(event.text);
  if (event.token) piece.__set_token(to_api(*event.token, with_logprobs));
  piece.__set_finish_reason(to_api(event.finish_reason));
  return piece;
}

api::Choice to_api(const engine::Generation& generation, bool with_logprobs) {
  api::Choice choice;
  choice.__set_text(generation.text);
  choice.tokens.reserve(generation.tokens.size());
  for (const scheduler::SampledToken& token : generation.tokens) choice.tokens.push_back(to_api(token, with_logprobs));
  choice.__set_finish_reason(to_api(generation.finish_reason));
  return choice;
}

}  // namespace trireme::thrift
