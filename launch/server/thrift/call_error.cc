#include "launch/server/thrift/call_error.h"

#include <thrift/Thrift.h>
#include <trireme_types.h>

#include "base/check.h"

namespace trireme::thrift {
namespace {

using Kind = CallError::Kind;

constexpr std::size_t kMaxMessageBytes = 1000;

template <typename Exception>
Exception with_message(const CallError& error) {
  Exception exception;
  exception.__set_message(error.message.substr(0, kMaxMessageBytes));
  return exception;
}

template <typename Exception>
void give(const Throw& out, const Exception& exception) {
  out(apache::thrift::TDelayedException::delayException(exception));
}

template <typename Exception>
void give_later(const Throw& out, const CallError& error) {
  auto exception = with_message<Exception>(error);
  exception.__set_retry_after_ms(error.retry_after_ms);
  give(out, exception);
}

void give_abort(const Throw& out, const CallError& error, api::AbortReason::type reason) {
  auto exception = with_message<api::Aborted>(error);
  exception.__set_reason(reason);
  give(out, exception);
}

}  // namespace

void throw_error(const Throw& out, const CallError& error) {
  switch (error.kind) {
    case Kind::kInvalid: {
      auto exception = with_message<api::InvalidRequest>(error);
      exception.__set_field(error.field);
      return give(out, exception);
    }
    case Kind::kUnauthorized: return give(out, with_message<api::Unauthorized>(error));
    case Kind::kNotFound: return give(out, with_message<api::NotFound>(error));
    case Kind::kOverloaded: return give_later<api::Overloaded>(out, error);
    case Kind::kUnavailable: return give_later<api::Unavailable>(out, error);
    case Kind::kCancelled: return give_abort(out, error, api::AbortReason::CANCELLED);
    case Kind::kDeadline: return give_abort(out, error, api::AbortReason::DEADLINE);
    case Kind::kTooSlow: return give_abort(out, error, api::AbortReason::TOO_SLOW);
    case Kind::kNonFinite: return give_abort(out, error, api::AbortReason::NON_FINITE);
  }
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kInvalid: return "invalid";
    case Kind::kUnauthorized: return "unauthorized";
    case Kind::kNotFound: return "not_found";
    case Kind::kOverloaded: return "overloaded";
    case Kind::kUnavailable: return "unavailable";
    case Kind::kCancelled: return "cancelled";
    case Kind::kDeadline: return "deadline";
    case Kind::kTooSlow: return "slow_client";
    case Kind::kNonFinite: return "non_finite";
  }
  return "";
}

CallError error_of(const server::Refusal& refusal) {
  CallError error;
  error.message = refusal.message;
  error.retry_after_ms = static_cast<std::int32_t>(refusal.retry_after.count());
  switch (refusal.kind) {
    case server::Refusal::Kind::kInvalid: error.kind = Kind::kInvalid; break;
    case server::Refusal::Kind::kNotFound: error.kind = Kind::kNotFound; break;
    case server::Refusal::Kind::kOverloaded: error.kind = Kind::kOverloaded; break;
    case server::Refusal::Kind::kShuttingDown: error.kind = Kind::kUnavailable; break;
  }
  return error;
}

CallError error_of(const server::StreamEnd& end) {
  switch (end.kind) {
    case server::StreamEnd::Kind::kComplete: break;
    case server::StreamEnd::Kind::kRefused: return {Kind::kInvalid, end.message, {}, 0};
    case server::StreamEnd::Kind::kTooSlow: return {Kind::kTooSlow, end.message, {}, 0};
    case server::StreamEnd::Kind::kCancelled: return {Kind::kCancelled, end.message, {}, 0};
    case server::StreamEnd::Kind::kShutdown: return {Kind::kUnavailable, end.message, {}, 0};
  }
  TRIREME_CHECK(false) << "a complete stream has no error";
  return {};
}

CallError error_of(scheduler::FinishReason reason) {
  TRIREME_CHECK(is_failure(reason));
  if (reason == scheduler::FinishReason::kDeadline) {
    return {Kind::kDeadline, "the time limit of the request has passed", {}, 0};
  }
  return {Kind::kNonFinite, "the model's logits are not finite for this prompt", {}, 0};
}

}  // namespace trireme::thrift
