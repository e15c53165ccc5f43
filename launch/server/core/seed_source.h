// SeedSource: seeds for requests that name none. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>

#include "base/split_mix.h"

namespace trireme::server {

class SeedSource {
 public:
  std::uint64_t next() { return base::split_mix64(start_, ++last_); }
  std::uint64_t start() const { return start_; }  // differs from run to run

 private:
  const std::uint64_t start_ = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  std::atomic<std::uint64_t> last_{0};
};

}  // namespace trireme::server
