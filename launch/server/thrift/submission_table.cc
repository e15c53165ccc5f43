#include "launch/server/thrift/submission_table.h"

#include <algorithm>
#include <utility>

#include "launch/server/thrift/conversion.h"

namespace trireme::thrift {
namespace {

CallError not_found() {
  return {CallError::Kind::kNotFound, "no such request: it was cancelled, or not polled for too long", {}, 0};
}

}  // namespace

void SubmissionTable::add(const std::string& id, const std::string& tenant, const scheduler::Request& request,
                          server::ActiveRequest active) {
  Entry& entry = entries_[id];
  entry.tenant = tenant;
  entry.active = std::move(active);
  entry.with_logprobs = request.sampling.num_logprobs >= 0;
  entry.usage.__set_prompt_tokens(static_cast<std::int32_t>(request.prompt.size()));
  entry.last_poll = Clock::now();
}

SubmissionTable::Entry* SubmissionTable::find(const std::string& id, const std::string& tenant) {
  const auto found = entries_.find(id);
  return found == entries_.end() || found->second.tenant != tenant ? nullptr : &found->second;
}

std::optional<CallError> SubmissionTable::poll(const std::string& id, const std::string& tenant, Poll poll) {
  Entry* entry = find(id, tenant);
  if (entry == nullptr) return not_found();
  if (entry->waiting) answer(*entry);
  const auto num_pieces = static_cast<std::int64_t>(entry->pieces.size());
  if (poll.from_seq < entry->first_seq || poll.from_seq > entry->first_seq + num_pieces) {
    return CallError{CallError::Kind::kInvalid,
                     "from_seq: must be from " + std::to_string(entry->first_seq) + " to " +
                         std::to_string(entry->first_seq + num_pieces),
                     "from_seq", 0};
  }
  entry->last_poll = Clock::now();
  entry->pieces.erase(entry->pieces.begin(), entry->pieces.begin() + (poll.from_seq - entry->first_seq));
  entry->first_seq = poll.from_seq;
  entry->waiting = std::move(poll);
  // What a client has not yet acknowledged stays; more is taken once it is gone, so that the stream's bound holds.
  if (entry->pieces.empty()) take(*entry);
  const bool has_something = !entry->pieces.empty() || entry->finished || entry->error;
  if (has_something || entry->waiting->until <= entry->last_poll) answer(*entry);
  return std::nullopt;
}

std::optional<CallError> SubmissionTable::cancel(const std::string& id, const std::string& tenant) {
  Entry* entry = find(id, tenant);
  if (entry == nullptr) return not_found();
  if (entry->waiting) {
    entry->error = CallError{CallError::Kind::kCancelled, "the request was cancelled", {}, 0};
    answer(*entry);
  }
  entries_.erase(id);
  return std::nullopt;
}

void SubmissionTable::take(Entry& entry) {
  // The stream calls again only after it was found empty.
  while (entry.active && entry.pieces.empty()) {
    const server::TokenStream::Batch batch = entry.active.take();
    for (const server::EventPtr& event : batch.events) {
      if (is_failure(event->finish_reason)) {
        entry.error = error_of(event->finish_reason);
        entry.active = {};
        return;
      }
      if (event->token) ++entry.usage.output_tokens;
      entry.pieces.push_back(to_api(*event, entry.with_logprobs));
    }
    if (batch.end) {
      entry.active = {};
      entry.usage.__set_cached_prompt_tokens(static_cast<std::int32_t>(batch.end->cached_tokens));
      if (batch.end->kind == server::StreamEnd::Kind::kComplete)
        entry.finished = true;
      else
        entry.error = error_of(*batch.end);
    }
    if (batch.events.empty()) return;
  }
}

void SubmissionTable::answer(Entry& entry) {
  const Poll poll = std::move(*std::exchange(entry.waiting, std::nullopt));
  entry.delivered = entry.finished || (entry.pieces.empty() && entry.error);
  if (entry.pieces.empty() && entry.error) return poll.answer(*entry.error);
  api::PollResponse response;
  response.__set_pieces(entry.pieces);
  response.__set_next_seq(entry.first_seq + static_cast<std::int64_t>(entry.pieces.size()));
  response.__set_finished(entry.finished);
  if (entry.finished) response.__set_usage(entry.usage);
  poll.answer(std::move(response));
}

void SubmissionTable::on_ready(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || !found->second.waiting) return;
  take(found->second);
  if (!found->second.pieces.empty() || found->second.finished || found->second.error) answer(found->second);
}

void SubmissionTable::tick(Clock::time_point now) {
  for (auto next = entries_.begin(); next != entries_.end();) {
    Entry& entry = next->second;
    if (entry.waiting && now >= entry.waiting->until) {
      entry.last_poll = now;
      answer(entry);
    }
    const bool forgotten = !entry.waiting && now - entry.last_poll >= max_unpolled_;
    next = forgotten ? entries_.erase(next) : std::next(next);
  }
}

bool SubmissionTable::has_undelivered() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) { return !entry.second.delivered; });
}

}  // namespace trireme::thrift
