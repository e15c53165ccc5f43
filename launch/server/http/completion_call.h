// CompletionCall: one request for completions or a chat, parsed and turned into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/request_json/parse_request.h"
#include "scheduler/request.h"

namespace trireme::http {

struct CompletionCall {
  launch::RequestForm form = launch::RequestForm::kCompletions;
  std::string id, model;
  std::int64_t created = 0;  // seconds since 1970
  bool stream = false;
  bool include_usage = false;                // a last chunk of a stream that holds the usage
  bool continuous_usage = false;             // and each chunk, too
  bool echo = false;                         // the output begins with the prompt
  bool determined = false;                   // greedy, or with the client's own seed
  std::vector<scheduler::Request> requests;  // one per prompt; equal but for it

  bool is_chat() const { return form == launch::RequestForm::kChat; }
  std::size_t num_choices() const;  // over all prompts
  // Choices of the first prompt come first.
  std::size_t index_of(std::size_t prompt, std::uint32_t choice) const;
  const scheduler::Request& request_of(std::size_t index) const;
};

}  // namespace trireme::http
