#include "launch/server/core/dialogue_table.h"

#include <array>
#include <cstdio>
#include <utility>

namespace trireme::server {
namespace {

// Not a character of tenants' names, so that no tenant's own scope is a dialogue's.
constexpr char kSeparator = '\x1f';

std::string scope_of(const std::string& tenant, const std::string& id) {
  return tenant + kSeparator + id;
}

base::Error unknown(const std::string& id) {
  return base::not_found("dialogue " + id + " is unknown or has ended");
}

}  // namespace

base::Result<std::string> DialogueTable::begin(const std::string& tenant, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (dialogues_.size() >= limits_.max_dialogues) {
    return base::resource_exhausted("there are " + std::to_string(limits_.max_dialogues) +
                                    " dialogues already (server.max_dialogues)");
  }
  std::string id;
  for (int word = 0; word < 4; ++word) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", random_());
    id += digits.data();
  }
  dialogues_.emplace(id, Dialogue{tenant, now + limits_.max_idle, 0});
  return id;
}

base::Result<std::string> DialogueTable::use(const std::string& tenant, const std::string& id, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto found = dialogues_.find(id);
  const bool known = found != dialogues_.end() && found->second.tenant == tenant &&
                     (found->second.num_uses > 0 || found->second.expires > now);
  if (!known) return unknown(id);
  ++found->second.num_uses;
  return scope_of(tenant, id);
}

bool DialogueTable::release(const std::string& scope, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto found = dialogues_.find(scope.substr(scope.find(kSeparator) + 1));
  if (found == dialogues_.end()) return false;
  --found->second.num_uses;
  found->second.expires = now + limits_.max_idle;
  return true;
}

base::Status DialogueTable::end(const std::string& tenant, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = dialogues_.find(id);
  if (found == dialogues_.end() || found->second.tenant != tenant) return unknown(id);
  ended_.push_back(scope_of(tenant, id));
  dialogues_.erase(found);
  return base::ok_status();
}

std::vector<std::string> DialogueTable::take_ended(TimePoint now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> ended = std::exchange(ended_, {});
  if (now < next_look_) return ended;
  next_look_ = now + limits_.max_idle / 64;
  for (auto next = dialogues_.begin(); next != dialogues_.end();) {
    const auto dialogue = next++;
    if (dialogue->second.num_uses > 0 || dialogue->second.expires > now) continue;
    ended.push_back(scope_of(dialogue->second.tenant, dialogue->first));
    dialogues_.erase(dialogue);
  }
  return ended;
}

std::size_t DialogueTable::size() const {
  const std::lock_guard lock(mutex_);
  return dialogues_.size();
}

}  // namespace trireme::server
