// ServiceObserver: is told what happens to requests, for metrics and logs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "launch/server/core/refusal.h"
#include "launch/server/core/token_stream.h"
#include "scheduler/request.h"

namespace trireme::server {

// One request from submission to end. Times are those of the engine thread.
struct RequestRecord {
  using TimePoint = std::chrono::steady_clock::time_point;
  scheduler::RequestId id;
  std::string tenant;
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;  // of the prompt, from the prefix cache
  std::int64_t output_tokens = 0;  // over all choices
  std::int32_t num_choices = 1;
  std::int32_t max_tokens = 0;
  bool from_response_cache = false;
  TimePoint submitted, started, first_token, last_token, ended;  // 0 where it did not come to that
  StreamEnd::Kind end = StreamEnd::Kind::kComplete;
};

// Calls come from the engine thread, those of cache hits and refusals from the submitting thread: thread-safe, and
// quick.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;
  virtual void on_refused(Refusal::Kind kind) = 0;
  virtual void on_started(const RequestRecord& record) = 0;
  virtual void on_first_token(const RequestRecord& record) = 0;
  virtual void on_next_token(std::chrono::duration<double> since_last) = 0;
  virtual void on_choice_finished(scheduler::FinishReason reason) = 0;
  virtual void on_ended(const RequestRecord& record) = 0;
};

}  // namespace trireme::server
