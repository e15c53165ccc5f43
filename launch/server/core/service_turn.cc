// The part of RequestService that runs on the engine's thread.
#include <utility>

#include "launch/server/core/active_request_state.h"
#include "launch/server/core/request_service.h"

namespace trireme::server {

using scheduler::FinishReason;
using scheduler::RequestId;

namespace {

constexpr std::chrono::milliseconds kStatsInterval{50};

const char* explain(StreamEnd::Kind kind) {
  switch (kind) {
    case StreamEnd::Kind::kComplete: return "";
    case StreamEnd::Kind::kRefused: return "the request was refused";
    case StreamEnd::Kind::kTooSlow: return "the client reads too slowly";
    case StreamEnd::Kind::kCancelled: return "the request was cancelled";
    case StreamEnd::Kind::kShutdown: return "the server is shutting down";
  }
  return "";
}

StreamEnd stream_end(StreamEnd::Kind kind, std::string message = {}) {
  StreamEnd end;
  end.kind = kind;
  end.message = message.empty() ? explain(kind) : std::move(message);
  return end;
}

}  // namespace

bool RequestService::turn(Clock::time_point now) {
  take_new(now);
  end_dialogues(now);
  if (draining() && now.time_since_epoch().count() >= drain_deadline_.load()) {
    end_all(StreamEnd::Kind::kShutdown, now);
  }
  forget_ended();
  if (now >= stats_due_) publish_stats(now);
  return !(draining() && active_.empty() && queue_.load().num_requests == 0 && engine_.idle());
}

void RequestService::take_new(Clock::time_point now) {
  const scheduler::RequestQueue::Batch batch = queue_.take();
  for (const auto& request : batch.requests) {
    std::unique_ptr<Active> active;
    {
      const std::lock_guard lock(mutex_);
      active = std::move(incoming_.extract(request->id).mapped());
    }
    start(std::move(active), now);
  }
  for (const RequestId id : batch.cancelled) {
    const auto found = engine_ids_.find(id);
    if (found == engine_ids_.end()) continue;  // has ended meanwhile
    end(*active_.at(found->second), stream_end(StreamEnd::Kind::kCancelled), now);
  }
}

void RequestService::start(std::unique_ptr<Active> owned, Clock::time_point now) {
  Active& active = *owned;
  const auto id = engine_.submit(
      *active.request, [this, &active](const engine::GenerationEvent& event) { on_event(active, event); }, now);
  if (!id) {
    active.engine_id = RequestId(0);  // the engine counts from 1
    return end(active, stream_end(StreamEnd::Kind::kRefused, id.error().message), now);
  }
  active.engine_id = *id;
  engine_ids_.emplace(active.request->id, *id);
  active_.emplace(*id, std::move(owned));
}

void RequestService::on_start(const engine::RequestStart& start) {
  const auto found = active_.find(start.request);
  if (found == active_.end() || found->second->started) return;  // of another choice that started before
  Active& active = *found->second;
  active.started = true;
  queue_.leave(*active.request);
  active.record.started = Clock::now();
  active.record.cached_tokens = start.cached_tokens;
  observer_.on_started(active.record);
}

void RequestService::on_event(Active& active, const engine::GenerationEvent& event) {
  if (active.is_over) return;
  const Clock::time_point now = Clock::now();
  if (event.token) note_tokens(active, event, now);
  auto shared = std::make_shared<const engine::GenerationEvent>(event);
  if (!active.cache_key.empty()) active.answer.push_back(shared);
  if (!active.stream->push(std::move(shared))) {
    return end(active, stream_end(StreamEnd::Kind::kTooSlow), now);
  }
  if (event.finish_reason == FinishReason::kNone) return;
  observer_.on_choice_finished(event.finish_reason);
  const bool keeps = event.finish_reason == FinishReason::kStop || event.finish_reason == FinishReason::kLength;
  if (!keeps) active.cache_key.clear();
  if (--active.unfinished > 0) return;
  if (!active.cache_key.empty()) cache_.insert(active.cache_key, std::move(active.answer));
  end(active, {}, now);
}

void RequestService::note_tokens(Active& active, const engine::GenerationEvent& event, Clock::time_point now) {
  RequestRecord& record = active.record;
  Clock::time_point& last = active.last_token[event.choice_index];
  ++record.output_tokens;
  if (record.output_tokens == 1) {
    record.first_token = now;
    observer_.on_first_token(record);
  }
  if (last != Clock::time_point{}) observer_.on_next_token(now - last);
  last = record.last_token = now;
}

void RequestService::end(Active& active, StreamEnd end, Clock::time_point now) {
  if (active.is_over) return;
  active.is_over = true;
  active.record.ended = now;
  active.record.end = end.kind;
  if (!active.started) queue_.leave(*active.request);
  const std::string& scope = active.request->cache_scope;
  if (active.in_dialogue && !dialogues_.release(scope, now)) stale_scopes_.push_back(scope);
  observer_.on_ended(active.record);
  end.cached_tokens = active.record.cached_tokens;
  active.stream->finish(std::move(end));
  ended_.push_back(active.engine_id);
}

void RequestService::end_all(StreamEnd::Kind kind, Clock::time_point now) {
  for (const auto& [id, active] : active_) end(*active, stream_end(kind), now);
}

// Not from within the engine, which is still using what it told about.
void RequestService::forget_ended() {
  for (const RequestId id : ended_) {
    const auto found = active_.find(id);
    if (found == active_.end()) continue;
    engine_.cancel(id);  // no effect if it has ended by itself
    engine_ids_.erase(found->second->request->id);
    active_.erase(found);
  }
  ended_.clear();
  for (const std::string& scope : stale_scopes_) engine_.forget_scope(scope);
  stale_scopes_.clear();
}

void RequestService::end_dialogues(Clock::time_point now) {
  for (const std::string& scope : dialogues_.take_ended(now)) {
    for (const auto& [id, active] : active_) {
      if (active->request->cache_scope != scope) continue;
      end(*active, stream_end(StreamEnd::Kind::kCancelled, "the dialogue has ended"), now);
    }
    forget_ended();
    engine_.forget_scope(scope);
  }
}

void RequestService::publish_stats(Clock::time_point now) {
  stats_due_ = now + kStatsInterval;
  ServiceStats stats;
  const scheduler::RequestQueue::Load waiting = queue_.load();
  stats.num_waiting = static_cast<std::int64_t>(waiting.num_requests);
  stats.waiting_tokens = static_cast<std::int64_t>(waiting.num_tokens);
  for (const auto& [id, active] : active_) stats.num_running += active->started ? 1 : 0;
  const ResponseCache::Counts cache = cache_.counts();
  stats.response_cache_hits = cache.hits;
  stats.response_cache_queries = cache.queries;
  stats.num_dialogues = static_cast<std::int64_t>(dialogues_.size());
  stats.totals = engine_.totals();
  stats.replicas = engine_.stats();
  const std::lock_guard lock(mutex_);
  stats_ = std::move(stats);
}

}  // namespace trireme::server
