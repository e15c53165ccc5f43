// SubmissionTable: requests that were submitted and are polled for. All of it belongs to the thread of the connections;
// a poll that waits is an entry here, not a thread.
#pragma once

#include <trireme_types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launch/server/core/request_service.h"
#include "launch/server/thrift/call_error.h"

namespace trireme::thrift {

class SubmissionTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Answer = std::function<void(std::variant<api::PollResponse, CallError>)>;
  struct Poll {
    std::int64_t from_seq = 0;
    Clock::time_point until;
    Answer answer;
  };

  explicit SubmissionTable(std::chrono::milliseconds max_unpolled) : max_unpolled_(max_unpolled) {}

  void add(const std::string& id, const std::string& tenant, const scheduler::Request& request,
           server::ActiveRequest active);
  std::optional<CallError> poll(const std::string& id, const std::string& tenant, Poll poll);
  std::optional<CallError> cancel(const std::string& id, const std::string& tenant);

  void on_ready(const std::string& id);  // its stream has something
  void tick(Clock::time_point now);      // polls whose time is over, and submissions that nobody polls
  void clear() { entries_.clear(); }     // without answers
  std::size_t size() const { return entries_.size(); }
  bool has_undelivered() const;  // some client has not been told of its request's end yet

 private:
  struct Entry {
    std::string tenant;
    server::ActiveRequest active;
    bool with_logprobs = false;
    api::Usage usage;
    std::vector<api::Piece> pieces;  // that may be asked for again
    std::int64_t first_seq = 0;      // of pieces.front()
    bool finished = false, delivered = false;
    std::optional<CallError> error;  // after `pieces`
    std::optional<Poll> waiting;
    Clock::time_point last_poll;
  };

  Entry* find(const std::string& id, const std::string& tenant);
  static void take(Entry& entry);
  static void answer(Entry& entry);

  const std::chrono::milliseconds max_unpolled_;
  std::map<std::string, Entry> entries_;
};

}  // namespace trireme::thrift
