// WholeReply: collects the output of one request until it has ended, holding no thread meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "launch/server/core/request_service.h"
#include "launch/server/thrift/call_error.h"
#include "launch/server/thrift/framed_connection.h"
#include "runtime/engine/generation.h"

namespace trireme::thrift {

struct WholeOutput {
  scheduler::Request request;
  std::vector<engine::Generation> choices;
  std::int64_t output_tokens = 0, cached_tokens = 0;
};

class WholeReply : public std::enable_shared_from_this<WholeReply> {
 public:
  using Done = std::function<void(std::variant<WholeOutput, CallError>)>;  // thread of the connections
  using Post = std::function<void(std::function<void()>)>;                 // to that thread

  // Any thread; `done` is called once, unless the request is refused or the client of `exchange` goes.
  static std::optional<server::Refusal> start(server::RequestService& service, server::Submission submission,
                                              FrameExchangePtr exchange, const Post& post, Done done);

 private:
  void pump();
  void release();

  server::ActiveRequest active_;
  WholeOutput output_;
  Done done_;  // empty: over
};

}  // namespace trireme::thrift
