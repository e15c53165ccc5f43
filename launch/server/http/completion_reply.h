// CompletionReply: takes the output of a call's requests from the service and answers its client, whole or token by
// token. Thread of the connections. While a write is under way nothing is taken, so that a client who does not read
// fills its streams, and not this process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "launch/server/core/request_service.h"
#include "launch/server/http/completion_call.h"
#include "launch/server/http/completion_writer.h"
#include "launch/server/http/exchange.h"
#include "runtime/engine/generation.h"

namespace trireme::http {

class CompletionReply : public std::enable_shared_from_this<CompletionReply> {
 public:
  CompletionReply(ExchangePtr exchange, CompletionCall call, const tokenizer::Tokenizer& tokenizer,
                  std::function<void(const std::string&)> on_drop);

  // Submits all requests of the call, or none. Any thread; then begin() on the connections' thread.
  std::optional<server::Refusal> submit(server::RequestService& service);
  void begin();

 private:
  void pump();
  void take(std::size_t prompt, std::string& text);
  void add(std::size_t prompt, const engine::GenerationEvent& event, std::string& text);
  void write(std::string text);
  void finish();
  void fail(int status, const std::string& message);
  void drop();
  void release();

  const ExchangePtr exchange_;
  const CompletionCall call_;
  CompletionWriter writer_;
  const std::function<void(const std::string&)> on_drop_;
  std::vector<server::ActiveRequest> active_;    // by prompt; empty: over
  std::vector<engine::Generation> generations_;  // by index, unless streamed
  std::size_t num_open_ = 0;                     // prompts
  bool writing_ = false, streaming_ = false, over_ = false;
};

}  // namespace trireme::http
