#include "launch/server/thrift/whole_reply.h"

#include <utility>

namespace trireme::thrift {

std::optional<server::Refusal> WholeReply::start(server::RequestService& service, server::Submission submission,
                                                 FrameExchangePtr exchange, const Post& post, Done done) {
  auto reply = std::make_shared<WholeReply>();
  reply->done_ = std::move(done);
  reply->output_.request = submission.request;
  reply->output_.choices.resize(static_cast<std::size_t>(submission.request.num_choices));
  const auto pump = [post, weak = std::weak_ptr(reply)] {
    post([weak] {
      if (const auto open = weak.lock()) open->pump();
    });
  };
  submission.on_ready = pump;
  auto taken = service.submit(std::move(submission));
  if (auto* refusal = std::get_if<server::Refusal>(&taken)) return std::move(*refusal);
  reply->active_ = std::get<server::ActiveRequest>(std::move(taken));
  // From here on the connection holds the reply.
  post([reply, exchange = std::move(exchange)] {
    exchange->on_gone([reply] { reply->release(); });
    reply->pump();
  });
  return std::nullopt;
}

void WholeReply::pump() {
  // The stream calls again only after it was found empty.
  while (done_) {
    const server::TokenStream::Batch batch = active_.take();
    std::optional<CallError> error;
    for (const server::EventPtr& event : batch.events) {
      if (is_failure(event->finish_reason)) error = error_of(event->finish_reason);
      output_.output_tokens += event->token && !event->token->non_finite ? 1 : 0;
      output_.choices[event->choice_index].add(*event);
    }
    if (!error && batch.end && batch.end->kind != server::StreamEnd::Kind::kComplete) error = error_of(*batch.end);
    if (!error && !batch.end && batch.events.empty()) return;
    if (!error && !batch.end) continue;
    const Done done = std::exchange(done_, nullptr);
    active_ = {};
    if (error) return done(std::move(*error));
    output_.cached_tokens = batch.end->cached_tokens;
    done(std::move(output_));
  }
}

void WholeReply::release() {
  done_ = nullptr;
  active_ = {};
}

}  // namespace trireme::thrift
