// DialogueTable: which dialogues there are, whose, and when they expire. Their KV blocks lie in a prefix-cache scope of
// their own, which the service releases when they end. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace trireme::server {

class DialogueTable {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Limits {
    std::size_t max_dialogues = 1024;
    std::chrono::milliseconds max_idle = std::chrono::minutes(10);
  };

  explicit DialogueTable(Limits limits) : limits_(limits) {}

  // An id that cannot be guessed. Error: too many dialogues.
  base::Result<std::string> begin(const std::string& tenant, TimePoint now);
  // The scope of its blocks, in use until release(). Error: not of this tenant, or over.
  base::Result<std::string> use(const std::string& tenant, const std::string& id, TimePoint now);
  // False if the dialogue has ended meanwhile: then its blocks are to be forgotten again.
  bool release(const std::string& scope, TimePoint now);
  // Error: not of this tenant, or over already.
  base::Status end(const std::string& tenant, const std::string& id);

  // The scopes of those that have ended or expired since the last call. One in use does not expire.
  std::vector<std::string> take_ended(TimePoint now);
  std::size_t size() const;

 private:
  struct Dialogue {
    std::string tenant;
    TimePoint expires;
    std::int32_t num_uses = 0;
  };

  const Limits limits_;
  mutable std::mutex mutex_;
  std::random_device random_;
  std::unordered_map<std::string, Dialogue> dialogues_;  // by id
  std::vector<std::string> ended_;
  TimePoint next_look_{};  // for expired ones
};

}  // namespace trireme::server
