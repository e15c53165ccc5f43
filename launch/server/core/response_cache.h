// ResponseCache: whole answers of requests whose answer is determined (greedy, or seeded by the client), so that an
// equal request of the same tenant costs nothing. Least recently used answers go first. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "launch/server/core/token_stream.h"
#include "scheduler/request.h"

namespace trireme::server {

using Answer = std::vector<EventPtr>;

class ResponseCache {
 public:
  struct Limits {
    std::size_t max_entries = 1000;  // 0: off
    std::size_t max_bytes = std::size_t{64} << 20;
  };

  explicit ResponseCache(Limits limits) : limits_(limits) {}

  bool enabled() const { return limits_.max_entries > 0; }
  // Counts a query, and a hit if there is an answer.
  std::shared_ptr<const Answer> find(const std::string& key);
  // Larger answers than the whole cache are not kept. An answer that is there already stays.
  void insert(const std::string& key, Answer answer);

  struct Counts {
    std::int64_t queries = 0, hits = 0;
    std::size_t entries = 0, bytes = 0;
  };
  Counts counts() const;

  // All that determines an answer: tenant, prompt and parameters, as bytes, compared in full. The server has one model.
  static std::string key_of(const scheduler::Request& request);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Answer> answer;
    std::size_t bytes = 0;
  };
  void drop_last();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;                                                 // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;  // views of the entries' own keys
  Counts counts_;
};

}  // namespace trireme::server
