#include "launch/server/http/completion_reply.h"

#include <optional>
#include <utility>

#include "launch/server/http/error_body.h"

namespace trireme::http {

using scheduler::FinishReason;
using server::StreamEnd;

CompletionReply::CompletionReply(ExchangePtr exchange, CompletionCall call, const tokenizer::Tokenizer& tokenizer,
                                 std::function<void(const std::string&)> on_drop)
    : exchange_(std::move(exchange)), call_(std::move(call)), writer_(call_, tokenizer), on_drop_(std::move(on_drop)) {
  if (!call_.stream) generations_.resize(call_.num_choices());
}

std::optional<server::Refusal> CompletionReply::submit(server::RequestService& service) {
  for (const scheduler::Request& request : call_.requests) {
    server::Submission submission;
    submission.request = request;
    submission.determined = call_.determined;
    submission.on_ready = [weak = weak_from_this(), exchange = std::weak_ptr<Exchange>(exchange_)] {
      const auto open = exchange.lock();
      if (!open) return;
      open->post([weak] {
        if (const auto reply = weak.lock()) reply->pump();
      });
    };
    auto taken = service.submit(std::move(submission));
    if (auto* refusal = std::get_if<server::Refusal>(&taken)) {
      active_.clear();
      return std::move(*refusal);
    }
    active_.push_back(std::get<server::ActiveRequest>(std::move(taken)));
  }
  num_open_ = active_.size();
  return std::nullopt;
}

void CompletionReply::begin() {
  exchange_->on_gone([self = shared_from_this()] { self->release(); });
  pump();
}

void CompletionReply::pump() {
  if (writing_ || over_) return;
  std::string text;
  for (std::size_t prompt = 0; prompt < active_.size() && !over_; ++prompt) {
    if (active_[prompt]) take(prompt, text);
  }
  if (over_) return;
  if (num_open_ == 0) {
    if (!call_.stream) return finish();
    text += writer_.end();
  }
  if (!text.empty()) write(std::move(text));
}

void CompletionReply::take(std::size_t prompt, std::string& text) {
  server::TokenStream::Batch batch;
  // The stream calls again only after it was found empty; where text is to be written, the end of the write comes
  // first.
  do {
    batch = active_[prompt].take();
    for (const server::EventPtr& event : batch.events) {
      add(prompt, *event, text);
      if (over_) return;
    }
  } while (text.empty() && !batch.events.empty() && !batch.end);
  if (!batch.end) return;
  switch (batch.end->kind) {
    case StreamEnd::Kind::kComplete: break;
    case StreamEnd::Kind::kRefused: return fail(400, batch.end->message);
    case StreamEnd::Kind::kTooSlow: return drop();
    case StreamEnd::Kind::kCancelled: return fail(409, batch.end->message);
    case StreamEnd::Kind::kShutdown: return fail(503, batch.end->message);
  }
  writer_.count_cached(batch.end->cached_tokens);
  active_[prompt] = {};
  --num_open_;
}

void CompletionReply::add(std::size_t prompt, const engine::GenerationEvent& event, std::string& text) {
  if (event.finish_reason == FinishReason::kDeadline) return fail(408, "the time limit of the request has passed");
  if (event.finish_reason == FinishReason::kNonFinite) {
    return fail(500, "the model's logits are not finite for this prompt");
  }
  writer_.count(event);
  const std::size_t index = call_.index_of(prompt, event.choice_index);
  if (call_.stream)
    text += writer_.event(index, event);
  else
    generations_[index].add(event);
}

void CompletionReply::write(std::string text) {
  if (!streaming_) exchange_->start_stream("text/event-stream; charset=utf-8");
  streaming_ = writing_ = true;
  exchange_->write(std::move(text), [self = shared_from_this()] {
    self->writing_ = false;
    if (self->over_) return;
    if (self->num_open_ > 0) return self->pump();
    self->over_ = true;
    self->exchange_->end_stream();
    self->release();
  });
}

void CompletionReply::finish() {
  HttpResponse response;
  response.body = writer_.whole(generations_);
  exchange_->respond(std::move(response));
  release();
}

void CompletionReply::fail(int status, const std::string& message) {
  active_.clear();
  num_open_ = 0;
  over_ = true;
  if (!streaming_) {
    HttpResponse response = error_response(status, message);
    response.headers.emplace_back("x-should-retry", "false");
    exchange_->respond(std::move(response));
    return;
  }
  exchange_->write(CompletionWriter::failure(status, message), [exchange = exchange_] { exchange->end_stream(); });
}

void CompletionReply::drop() {
  on_drop_("a client reads its stream too slowly");
  release();
  exchange_->drop();
}

void CompletionReply::release() {
  over_ = true;
  num_open_ = 0;
  active_.clear();
  generations_.clear();
}

}  // namespace trireme::http
