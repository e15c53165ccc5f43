#include "launch/server/core/token_stream.h"

#include <limits>
#include <utility>

namespace trireme::server {

std::size_t size_bytes(const engine::GenerationEvent& event) {
  constexpr std::size_t kTop = sizeof(scheduler::TokenLogprob);
  std::size_t bytes = sizeof event + event.text.size() + event.prompt_logprobs.size() * sizeof(float);
  for (const auto& top : event.prompt_top) bytes += sizeof top + top.size() * kTop;
  if (event.token) bytes += event.token->top.size() * kTop;
  return bytes;
}

TokenStream::TokenStream(std::size_t max_bytes, std::function<void()> on_ready)
    : max_bytes_(max_bytes), on_ready_(std::move(on_ready)) {}

TokenStream::TokenStream(std::vector<EventPtr> events)
    : max_bytes_(std::numeric_limits<std::size_t>::max()), events_(std::move(events)), end_(StreamEnd{}) {}

TokenStream::Batch TokenStream::take() {
  const std::lock_guard lock(mutex_);
  Batch batch{std::exchange(events_, {}), end_};
  num_bytes_ = 0;
  reader_waits_ = batch.events.empty() && !batch.end;
  return batch;
}

bool TokenStream::push(EventPtr event) {
  std::unique_lock lock(mutex_);
  if (end_) return end_->kind != StreamEnd::Kind::kTooSlow;
  const std::size_t bytes = size_bytes(*event);
  const bool fits = events_.empty() || num_bytes_ + bytes <= max_bytes_;
  if (fits) {
    num_bytes_ += bytes;
    events_.push_back(std::move(event));
  } else {
    events_.clear();
    end_.emplace();
    end_->kind = StreamEnd::Kind::kTooSlow;
    end_->message = "the client reads too slowly: its buffer of " + std::to_string(max_bytes_) + " bytes is full";
  }
  signal(lock);
  return fits;
}

void TokenStream::finish(StreamEnd end) {
  std::unique_lock lock(mutex_);
  if (end_) return;
  end_ = std::move(end);
  signal(lock);
}

void TokenStream::signal(std::unique_lock<std::mutex>& lock) {
  const bool call = std::exchange(reader_waits_, false);
  lock.unlock();
  if (call && on_ready_) on_ready_();
}

}  // namespace trireme::server
