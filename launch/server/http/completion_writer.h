// CompletionWriter: generated tokens → JSON in OpenAI's forms, whole or as a stream of server-sent events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/request_json/logprobs_json.h"
#include "launch/server/http/completion_call.h"
#include "runtime/engine/generation.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::http {

class CompletionWriter {
 public:
  // Both outlive this.
  CompletionWriter(const CompletionCall& call, const tokenizer::Tokenizer& tokenizer);

  // Notes what the usage counts.
  void count(const engine::GenerationEvent& event);
  void count_cached(std::int64_t prompt_tokens) { cached_tokens_ += prompt_tokens; }

  // The body of the answer; choices by index.
  std::string whole(const std::vector<engine::Generation>& choices) const;

  // The events of a stream, each ending with an empty line. The first of a choice also says whose message begins, or
  // echoes the prompt.
  std::string event(std::size_t index, const engine::GenerationEvent& event);
  std::string end() const;  // the usage, where it is wanted, and the mark of the end
  static std::string failure(int status, const std::string& message);

 private:
  std::string chunk(const std::string& choice) const;
  std::string choice(std::size_t index, const std::string& text, const std::string& logprobs,
                     const char* finish_reason) const;
  std::string logprobs(std::size_t index, const std::vector<launch::TokenWithLogprob>& tokens);
  std::string echoed(std::size_t index, const engine::GenerationEvent& event);
  std::string usage() const;

  const CompletionCall& call_;
  const tokenizer::Tokenizer& tokenizer_;
  std::string head_;                  // of every chunk, up to its choices
  std::vector<bool> begun_;           // by index
  std::vector<std::size_t> offsets_;  // by index: characters so far, for text_offset
  std::int64_t output_tokens_ = 0, cached_tokens_ = 0;
};

}  // namespace trireme::http
