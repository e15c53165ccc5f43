// TokenOracle: a model whose next token depends on all tokens before it, and on nothing else. It says what a request
// must produce however it is batched, cut into chunks, preempted or served from the prefix cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/request.h"

namespace trireme::scheduler {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ (value + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 29);
}

// What one choice of a request must give.
class TokenOracle {
 public:
  static constexpr TokenId kVocabulary = 6;

  TokenOracle(std::shared_ptr<const Request> request, std::uint32_t choice_index, std::int32_t max_context)
      : request_(std::move(request)), tokens_(request_->prompt) {
    hashes_.push_back(1);
    for (const TokenId token : tokens_) hashes_.push_back(mix(hashes_.back(), static_cast<std::uint64_t>(token)));
    while (finish_ == FinishReason::kNone) add_token(choice_index, max_context);
  }

  const Request& request() const { return *request_; }
  const std::vector<TokenId>& tokens() const { return tokens_; }  // prompt and output
  std::int32_t num_output() const { return static_cast<std::int32_t>(tokens_.size() - request_->prompt.size()); }
  FinishReason finish_reason() const { return finish_; }

  // Stands for keys and values at a position: depends on all tokens up to it.
  std::uint64_t content(std::int32_t position) const { return hashes_[static_cast<std::size_t>(position) + 1]; }
  // Of the target, given the tokens up to `position`.
  float logprob(std::int32_t position, TokenId target) const {
    return -static_cast<float>(mix(content(position), static_cast<std::uint64_t>(target)) % 1000);
  }

 private:
  void add_token(std::uint32_t choice_index, std::int32_t max_context) {
    if (num_output() >= request_->max_tokens || static_cast<std::int32_t>(tokens_.size()) >= max_context) {
      finish_ = FinishReason::kLength;
      return;
    }
    const auto token = static_cast<TokenId>(mix(hashes_.back(), choice_index) % kVocabulary);
    tokens_.push_back(token);
    hashes_.push_back(mix(hashes_.back(), static_cast<std::uint64_t>(token)));
    for (const TokenId stop : request_->stop_token_ids) {
      if (stop == token && num_output() > request_->min_tokens) finish_ = FinishReason::kStop;
    }
  }

  std::shared_ptr<const Request> request_;
  std::vector<TokenId> tokens_;
  std::vector<std::uint64_t> hashes_;
  FinishReason finish_ = FinishReason::kNone;
};

}  // namespace trireme::scheduler
