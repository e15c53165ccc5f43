// RequestService::Active: what the engine thread keeps of a request until it has ended. The endpoint's thread makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/server/core/request_service.h"

namespace trireme::server {

struct RequestService::Active {
  std::shared_ptr<const scheduler::Request> request;  // with the service's id
  std::shared_ptr<TokenStream> stream;
  std::string cache_key;  // empty: its answer is not kept
  std::vector<EventPtr> answer;
  bool in_dialogue = false;
  bool started = false;                       // has left the queue
  std::int32_t unfinished = 0;                // choices
  std::vector<Clock::time_point> last_token;  // per choice; 0: none yet
  RequestRecord record;

  scheduler::RequestId engine_id;
  bool is_over = false;
};

inline RequestRecord record_of(const scheduler::Request& request) {
  RequestRecord record;
  record.id = request.id;
  record.tenant = request.tenant;
  record.prompt_tokens = static_cast<std::int64_t>(request.prompt.size());
  record.num_choices = request.num_choices;
  record.max_tokens = request.max_tokens;
  return record;
}

}  // namespace trireme::server
