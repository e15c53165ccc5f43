#include "launch/server/core/response_cache.h"

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace trireme::server {
namespace {

// Values one after the other, each list behind its length, so that different requests give different bytes.
class KeyWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    key_ += text;
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  void put(const std::pair<scheduler::TokenId, float>& bias) {
    put(bias.first);
    put(bias.second);
  }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace

std::string ResponseCache::key_of(const scheduler::Request& request) {
  KeyWriter key;
  key.put(request.prefix_scope());
  key.put(request.tenant);
  key.put(request.prompt);
  const scheduler::SamplingParams& sampling = request.sampling;
  key.put(sampling.temperature);
  key.put(sampling.top_k);
  key.put(sampling.top_p);
  key.put(sampling.min_p);
  key.put(sampling.repetition_penalty);
  key.put(sampling.presence_penalty);
  key.put(sampling.frequency_penalty);
  key.put(sampling.logit_bias);
  key.put(sampling.seed);
  key.put(sampling.num_logprobs);
  key.put(request.max_tokens);
  key.put(request.min_tokens);
  key.put(request.num_choices);
  key.put(request.stop_token_ids);
  key.put(request.stop);
  key.put(request.prompt_logprobs);
  return key.take();
}

std::shared_ptr<const Answer> ResponseCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  ++counts_.queries;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  ++counts_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->answer;
}

void ResponseCache::insert(const std::string& key, Answer answer) {
  std::size_t bytes = sizeof(Entry) + key.size();
  for (const EventPtr& event : answer) bytes += sizeof event + size_bytes(*event);
  const std::lock_guard lock(mutex_);
  if (bytes > limits_.max_bytes || limits_.max_entries == 0 || by_key_.contains(key)) return;
  while (entries_.size() >= limits_.max_entries || counts_.bytes + bytes > limits_.max_bytes) drop_last();
  entries_.push_front({key, std::make_shared<const Answer>(std::move(answer)), bytes});
  by_key_.emplace(entries_.front().key, entries_.begin());
  counts_.bytes += bytes;
  counts_.entries = entries_.size();
}

void ResponseCache::drop_last() {
  counts_.bytes -= entries_.back().bytes;
  by_key_.erase(entries_.back().key);
  entries_.pop_back();
}

ResponseCache::Counts ResponseCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace trireme::server
