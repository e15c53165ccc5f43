// Refusal: why a request was not taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace trireme::server {

struct Refusal {
  enum class Kind : std::uint8_t {
    kInvalid,       // it can never be served; the message says why
    kNotFound,      // no such dialogue
    kOverloaded,    // the queue is full; try again after `retry_after`
    kShuttingDown,  // try again elsewhere, or after `retry_after`
  };
  Kind kind = Kind::kInvalid;
  std::string message;
  std::chrono::milliseconds retry_after{0};
};

}  // namespace trireme::server
