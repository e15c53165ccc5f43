// POST /v1/completions and /v1/chat/completions.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "launch/server/core/seed_source.h"
#include "launch/server/http/api.h"
#include "launch/server/http/completion_reply.h"
#include "launch/server/http/completion_request.h"
#include "launch/server/http/error_body.h"
#include "launch/unix_time.h"

namespace trireme::http {
namespace {

using launch::RequestForm;

// Ids and seeds of one server.
class Numbering {
 public:
  std::string next_id(RequestForm form) {
    return (form == RequestForm::kChat ? "chatcmpl-" : "cmpl-") + run_ + std::to_string(++last_);
  }
  std::uint64_t next_seed() { return seeds_.next(); }

 private:
  server::SeedSource seeds_;
  const std::string run_ = std::to_string(seeds_.start() % 1'000'000'000) + "-";
  std::atomic<std::uint64_t> last_{0};
};

void respond_later(const ExchangePtr& exchange, HttpResponse response) {
  exchange->post([exchange, response = std::move(response)] { exchange->respond(response); });
}

class CompletionHandler {
 public:
  CompletionHandler(Api& api, std::shared_ptr<Numbering> numbering, RequestForm form)
      : api_(api), numbering_(std::move(numbering)), form_(form) {}

  // On a worker.
  void operator()(const ExchangePtr& exchange) const {
    const Served& served = *api_.now();
    const auto arrival = std::chrono::steady_clock::now();
    auto read = read_call(exchange->request().body, form_, *served.model, numbering_->next_seed());
    if (const auto* error = std::get_if<CallError>(&read)) {
      api_.metrics.on_error("http", std::to_string(error->status));
      return respond_later(exchange, error_response(error->status, error->error.message, error->error.field));
    }
    CompletionCall& call = std::get<CompletionCall>(read);
    call.id = numbering_->next_id(form_);
    call.created = launch::seconds_since_1970();
    const std::chrono::milliseconds limit(api_.config.request_limit_ms);
    for (scheduler::Request& request : call.requests) {
      request.tenant = exchange->tenant();
      if (limit.count() > 0) request.deadline = arrival + limit;
    }
    start(exchange, std::move(call), served);
  }

 private:
  void start(const ExchangePtr& exchange, CompletionCall call, const Served& served) const {
    const auto on_drop = [&api = api_](const std::string& reason) { api.dropped(reason); };
    auto reply = std::make_shared<CompletionReply>(exchange, std::move(call), *served.model->tokenizer, on_drop);
    if (const auto refusal = reply->submit(*served.service)) {
      api_.metrics.on_error("http", std::to_string(status_of(refusal->kind)));
      return respond_later(exchange, refusal_response(*refusal));
    }
    exchange->post([reply] { reply->begin(); });
  }

  Api& api_;
  std::shared_ptr<Numbering> numbering_;
  RequestForm form_;
};

}  // namespace

void add_completion_routes(Api& api, Router& router) {
  const auto numbering = std::make_shared<Numbering>();
  const auto add = [&](const char* path, RequestForm form) {
    router.add({"POST", path, Needs::kKeyAndModel, RunsOn::kWorker, CompletionHandler(api, numbering, form)});
  };
  add("/v1/completions", RequestForm::kCompletions);
  add("/v1/chat/completions", RequestForm::kChat);
}

}  // namespace trireme::http
