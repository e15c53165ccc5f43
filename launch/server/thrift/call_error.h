// CallError: why a call gets no result, and the exception of the IDL that says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "launch/server/core/refusal.h"
#include "launch/server/core/token_stream.h"
#include "scheduler/request.h"

namespace apache::thrift {
class TDelayedException;
}

namespace trireme::thrift {

struct CallError {
  enum class Kind : std::uint8_t {
    kInvalid,
    kUnauthorized,
    kNotFound,
    kOverloaded,
    kUnavailable,
    kCancelled,
    kDeadline,
    kTooSlow,
    kNonFinite,
  };
  Kind kind = Kind::kInvalid;
  std::string message;
  std::string field;                // kInvalid
  std::int32_t retry_after_ms = 0;  // kOverloaded, kUnavailable
};

// How the generated code takes an exception.
using Throw = std::function<void(apache::thrift::TDelayedException*)>;
void throw_error(const Throw& out, const CallError& error);

const char* name_of(CallError::Kind kind);  // as the metrics have it

CallError error_of(const server::Refusal& refusal);
// Precondition: not complete.
CallError error_of(const server::StreamEnd& end);
// Precondition: deadline or non-finite.
CallError error_of(scheduler::FinishReason reason);
inline bool is_failure(scheduler::FinishReason reason) {
  return reason == scheduler::FinishReason::kDeadline || reason == scheduler::FinishReason::kNonFinite;
}

}  // namespace trireme::thrift
