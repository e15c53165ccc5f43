// The time of day as interfaces and files give it.
#pragma once

#include <chrono>
#include <cstdint>

namespace trireme::launch {

inline std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace trireme::launch
