// RequestService: where endpoints hand requests to the engine. Any thread submits, reads, cancels and asks for figures,
// without ever making the engine's thread wait; that thread calls turn() between its rounds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.h"
#include "launch/server/core/dialogue_table.h"
#include "launch/server/core/refusal.h"
#include "launch/server/core/response_cache.h"
#include "launch/server/core/service_observer.h"
#include "launch/server/core/service_stats.h"
#include "launch/server/core/token_stream.h"
#include "runtime/engine/engine.h"
#include "scheduler/request.h"
#include "scheduler/request_queue.h"

namespace trireme::server {

struct ServiceLimits {
  scheduler::RequestQueue::Limits waiting;
  std::size_t stream_bytes = std::size_t{256} << 10;  // output that a client may leave unread
  ResponseCache::Limits response_cache;
  DialogueTable::Limits dialogues;
};

// What an endpoint hands over: a request whose tokens and ranges are checked. Its id is assigned by the service.
struct Submission {
  scheduler::Request request;
  std::string dialogue;            // of the same tenant; empty: none
  bool determined = false;         // greedy, or with a seed of the client's own: equal requests have equal answers
  std::function<void()> on_ready;  // see TokenStream; may be empty if the reader polls
};

class RequestService;

// A request that was taken: its reader's end. Destroying it cancels what has not ended. Not for two threads at a time.
class ActiveRequest {
 public:
  ActiveRequest() = default;
  ActiveRequest(ActiveRequest&& other) noexcept { *this = std::move(other); }
  ActiveRequest& operator=(ActiveRequest&& other) noexcept;
  ~ActiveRequest() { cancel(); }

  explicit operator bool() const { return stream_ != nullptr; }
  scheduler::RequestId id() const { return id_; }
  bool from_response_cache() const { return cached_; }
  // See TokenStream::take().
  TokenStream::Batch take();
  // The engine stops within a step or two, and the blocks are free. Then take() gives nothing more.
  void cancel();

 private:
  friend class RequestService;
  std::shared_ptr<TokenStream> stream_;  // nothing: none, or over
  RequestService* service_ = nullptr;
  scheduler::RequestId id_;
  bool cached_ = false;
};

class RequestService {
 public:
  using Clock = std::chrono::steady_clock;

  // `engine` and `observer` outlive this. `wake` makes the engine's thread call turn() soon; any thread calls it.
  // ActiveRequests must be destroyed before this.
  RequestService(engine::Engine& engine, ServiceLimits limits, ServiceObserver& observer, std::function<void()> wake);
  ~RequestService();

  // Any thread; answers at once.
  std::variant<ActiveRequest, Refusal> submit(Submission submission);

  // A dialogue keeps the KV of its turns to itself, evictable, until it ends or has been idle for too long.
  // Any thread. Errors: too many dialogues (kResourceExhausted), an id that is none of the tenant's (kNotFound).
  base::Result<std::string> begin_dialogue(const std::string& tenant);
  base::Status end_dialogue(const std::string& tenant, const std::string& id);  // ends requests of it that still run

  ServiceStats stats() const;  // any thread; some milliseconds old

  // From now on nothing is taken. What runs may go on until `deadline`, then it ends with kShutdown. Any thread; again,
  // with an earlier deadline, to hurry.
  void drain(Clock::time_point deadline);
  bool draining() const { return draining_.load(); }

  // Engine thread, between two rounds. False once drained: nothing is left, and nothing will come.
  bool turn(Clock::time_point now);

 private:
  friend class ActiveRequest;
  struct Active;  // of the engine thread

  void cancel(scheduler::RequestId id);  // any thread
  Refusal refuse(Refusal::Kind kind, std::string message);
  // Nothing if there is no answer in the cache.
  std::optional<ActiveRequest> answer_from_cache(const scheduler::Request& request, const std::string& key);
  std::variant<ActiveRequest, Refusal> enqueue(Submission submission, std::string cache_key);

  // Engine thread.
  void take_new(Clock::time_point now);
  void start(std::unique_ptr<Active> active, Clock::time_point now);
  void on_start(const engine::RequestStart& start);
  void on_event(Active& active, const engine::GenerationEvent& event);
  void note_tokens(Active& active, const engine::GenerationEvent& event, Clock::time_point now);
  // The engine does not know the request any more, or is told to forget it.
  void end(Active& active, StreamEnd end, Clock::time_point now);
  void end_all(StreamEnd::Kind kind, Clock::time_point now);
  void forget_ended();
  void end_dialogues(Clock::time_point now);
  void publish_stats(Clock::time_point now);

  engine::Engine& engine_;
  const ServiceLimits limits_;
  ServiceObserver& observer_;
  const std::function<void()> wake_;
  std::atomic<std::uint64_t> next_id_{1};
  scheduler::RequestQueue queue_;
  ResponseCache cache_;
  DialogueTable dialogues_;
  std::atomic<bool> draining_{false};
  std::atomic<Clock::rep> drain_deadline_{0};

  mutable std::mutex mutex_;                                                    // of what follows
  std::unordered_map<scheduler::RequestId, std::unique_ptr<Active>> incoming_;  // until the engine thread takes them
  ServiceStats stats_;

  // Engine thread only.
  std::unordered_map<scheduler::RequestId, std::unique_ptr<Active>> active_;   // by the engine's id
  std::unordered_map<scheduler::RequestId, scheduler::RequestId> engine_ids_;  // by the service's
  std::vector<std::string> stale_scopes_;    // of dialogues that ended while a request used them
  std::vector<scheduler::RequestId> ended_;  // to be forgotten between turns: events come from within the engine
  Clock::time_point stats_due_{};
};

}  // namespace trireme::server
