#include "launch/server/thrift/inference_calls.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "launch/server/thrift/conversion.h"

namespace trireme::thrift {
namespace {

using Kind = CallError::Kind;

constexpr std::int32_t kLoadingRetryMs = 1000;
constexpr std::int32_t kMaxWaitMs = 60'000;
constexpr std::size_t kMaxSubmissions = 4096;  // at a time

// An id that cannot be guessed.
std::string random_id() {
  std::random_device random;
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x%08x%08x", random(), random(), random(), random());
  return text.data();
}

api::Usage usage_of(const WholeOutput& output) {
  api::Usage usage;
  usage.__set_prompt_tokens(static_cast<std::int32_t>(output.request.prompt.size()));
  usage.__set_output_tokens(static_cast<std::int32_t>(output.output_tokens));
  usage.__set_cached_prompt_tokens(static_cast<std::int32_t>(output.cached_tokens));
  return usage;
}

}  // namespace

std::optional<InferenceCalls::Caller> InferenceCalls::admit(const Text& api_key, const Throw& fail) const {
  auto tenant = api_.access.tenant_of(api_key);
  if (!tenant) {
    refuse(fail, {Kind::kUnauthorized, "this needs an API key of the server, as api_key", {}, 0});
    return std::nullopt;
  }
  const Served* served = api_.served.load(std::memory_order_acquire);
  if (served == nullptr) {
    refuse(fail, {Kind::kUnavailable, "the model is being loaded", {}, kLoadingRetryMs});
    return std::nullopt;
  }
  return Caller{std::move(*tenant), served};
}

void InferenceCalls::refuse(const Throw& fail, const CallError& error) const {
  api_.metrics.on_error("thrift", name_of(error.kind));
  throw_error(fail, error);
}

std::optional<server::Submission> InferenceCalls::read(const api::GenerateRequest& request, const Caller& caller,
                                                       const Throw& fail) const {
  const auto arrival = std::chrono::steady_clock::now();
  auto read = read_generate(request, *caller.served->model, api_.seeds.next());
  if (const auto* error = std::get_if<CallError>(&read)) {
    refuse(fail, *error);
    return std::nullopt;
  }
  auto& submission = std::get<server::Submission>(read);
  submission.request.tenant = caller.tenant;
  const std::chrono::milliseconds limit(api_.config.request_limit_ms);
  auto& deadline = submission.request.deadline;
  if (limit.count() > 0) deadline = std::min(deadline.value_or(arrival + limit), arrival + limit);
  return std::move(submission);
}

void InferenceCalls::complete(const Caller& caller, server::Submission submission, const Throw& fail,
                              const std::function<void(const WholeOutput&)>& done) const {
  const auto post = [server = api_.server](std::function<void()> task) { server->post(std::move(task)); };
  const auto finish = [&api = api_, fail, done](std::variant<WholeOutput, CallError> result) {
    if (const auto* output = std::get_if<WholeOutput>(&result)) return done(*output);
    const CallError& error = std::get<CallError>(result);
    api.metrics.on_error("thrift", name_of(error.kind));
    throw_error(fail, error);
  };
  const auto refusal = WholeReply::start(*caller.served->service, std::move(submission), exchange_, post, finish);
  if (refusal) refuse(fail, error_of(*refusal));
}

void InferenceCalls::generate(Done<api::GenerateResponse> done, Throw fail, const api::GenerateRequest& request,
                              const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  auto submission = read(request, *caller, fail);
  if (!submission) return;
  complete(*caller, std::move(*submission), fail, [done](const WholeOutput& output) {
    api::GenerateResponse response;
    const bool with_logprobs = output.request.sampling.num_logprobs >= 0;
    for (const engine::Generation& choice : output.choices) response.choices.push_back(to_api(choice, with_logprobs));
    response.__set_usage(usage_of(output));
    done(response);
  });
}

void InferenceCalls::scoreTokens(Done<api::Scores> done, Throw fail, const api::Prompt& prompt, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  auto read = read_score(prompt, *caller->served->model);
  if (const auto* error = std::get_if<CallError>(&read)) return refuse(fail, *error);
  auto& submission = std::get<server::Submission>(read);
  submission.request.tenant = caller->tenant;
  complete(*caller, std::move(submission), fail, [done](const WholeOutput& output) {
    api::Scores scores;
    scores.__set_tokens(output.request.prompt);
    const auto& logprobs = output.choices.front().prompt_logprobs;
    scores.logprobs.assign(logprobs.begin(), logprobs.end());
    done(scores);
  });
}

void InferenceCalls::submit(Done<Text> done, Throw fail, const api::GenerateRequest& request, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  auto submission = read(request, *caller, fail);
  if (submission) add_submission(*caller, std::move(*submission), done, fail);
}

void InferenceCalls::add_submission(const Caller& caller, server::Submission submission, const Done<Text>& done,
                                    const Throw& fail) const {
  const std::string id = random_id();
  submission.on_ready = [&api = api_, id] { api.server->post([&api, id] { api.submissions.on_ready(id); }); };
  const auto request = std::make_shared<scheduler::Request>(submission.request);
  auto taken = caller.served->service->submit(std::move(submission));
  if (const auto* refusal = std::get_if<server::Refusal>(&taken)) return refuse(fail, error_of(*refusal));
  const auto active = std::make_shared<server::ActiveRequest>(std::get<server::ActiveRequest>(std::move(taken)));
  api_.server->post([&api = api_, id, request, active, tenant = caller.tenant, done, fail] {
    if (api.submissions.size() >= kMaxSubmissions) {
      api.metrics.on_error("thrift", name_of(Kind::kOverloaded));
      return throw_error(fail, {Kind::kOverloaded, "too many requests wait to be polled", {}, kLoadingRetryMs});
    }
    api.submissions.add(id, tenant, *request, std::move(*active));
    done(id);
  });
}

void InferenceCalls::poll(Done<api::PollResponse> done, Throw fail, const Text& id, std::int64_t from_seq,
                          std::int32_t wait_ms, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  const std::chrono::milliseconds wait(std::clamp(wait_ms, 0, kMaxWaitMs));
  const auto answer = [&api = api_, done, fail](std::variant<api::PollResponse, CallError> result) {
    if (const auto* response = std::get_if<api::PollResponse>(&result)) return done(*response);
    const CallError& error = std::get<CallError>(result);
    api.metrics.on_error("thrift", name_of(error.kind));
    throw_error(fail, error);
  };
  api_.server->post([&api = api_, id, tenant = caller->tenant, from_seq, wait, answer] {
    const auto until = SubmissionTable::Clock::now() + wait;
    if (const auto error = api.submissions.poll(id, tenant, {from_seq, until, answer})) answer(*error);
  });
}

void InferenceCalls::cancel(std::function<void()> done, Throw fail, const Text& id, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  api_.server->post([&api = api_, id, tenant = caller->tenant, done, fail] {
    const auto error = api.submissions.cancel(id, tenant);
    if (!error) return done();
    api.metrics.on_error("thrift", name_of(error->kind));
    throw_error(fail, *error);
  });
}

void InferenceCalls::tokenize(Done<std::vector<std::int32_t>> done, Throw fail, const api::Prompt& prompt,
                              bool add_special, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  const auto tokens = read_tokens(prompt, add_special, *caller->served->model);
  if (const auto* error = std::get_if<CallError>(&tokens)) return refuse(fail, *error);
  done(std::get<std::vector<std::int32_t>>(tokens));
}

void InferenceCalls::detokenize(Done<Text> done, Throw fail, const std::vector<std::int32_t>& tokens,
                                const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  const server::ServedModel& model = *caller->served->model;
  const auto is_token = [&](std::int32_t id) { return id >= 0 && id < model.vocab_size; };
  if (!std::all_of(tokens.begin(), tokens.end(), is_token)) {
    return refuse(fail, {Kind::kInvalid, "tokens: must be ids of this model's tokens", "tokens", 0});
  }
  done(model.tokenizer->decode(tokens));
}

void InferenceCalls::beginDialogue(Done<Text> done, Throw fail, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  const auto id = caller->served->service->begin_dialogue(caller->tenant);
  if (id) return done(*id);
  refuse(fail, {Kind::kOverloaded, id.error().message, {}, kLoadingRetryMs});
}

void InferenceCalls::endDialogue(std::function<void()> done, Throw fail, const Text& dialogue, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  const auto ended = caller->served->service->end_dialogue(caller->tenant, dialogue);
  if (ended) return done();
  refuse(fail, {Kind::kNotFound, ended.error().message, {}, 0});
}

void InferenceCalls::listModels(Done<std::vector<api::ModelInfo>> done, Throw fail, const Text& api_key) {
  const auto caller = admit(api_key, fail);
  if (!caller) return;
  const server::ServedModel& model = *caller->served->model;
  std::vector<api::ModelInfo> models;
  for (const auto* names : {&model.names, &model.adapters}) {
    for (const std::string& name : *names) {
      api::ModelInfo& info = models.emplace_back();
      info.__set_name(name);
      info.__set_created(model.created);
      info.__set_max_context(model.max_context);
      info.__set_vocab_size(model.vocab_size);
    }
  }
  done(models);
}

}  // namespace trireme::thrift
