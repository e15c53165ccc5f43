// Result<T>: a value, or the Error that an expected outcome (bad input, queue full, no free block) brings.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace trireme::base {

enum class ErrorCode {
  kInvalidArgument,    // the caller's input is wrong; the message says what to change
  kNotFound,           // a file, key or id that does not exist
  kResourceExhausted,  // queue full, memory too small
  kUnsupported,        // well-formed, but not something Trireme does
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;  // one line, naming the file, key or field
};

inline Error invalid_argument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error not_found(std::string message) {
  return {ErrorCode::kNotFound, std::move(message)};
}
inline Error resource_exhausted(std::string message) {
  return {ErrorCode::kResourceExhausted, std::move(message)};
}
inline Error unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok().
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

  // Precondition: !ok().
  const Error& error() const {
    TRIREME_CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  T& checked() {
    TRIREME_CHECK(ok()) << (ok() ? "" : std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

// The result of something that yields no value.
using Status = Result<std::monostate>;
inline Status ok_status() {
  return std::monostate{};
}

}  // namespace trireme::base
