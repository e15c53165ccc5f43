#include "launch/peak_memory.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace trireme::launch {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr std::int64_t kBytesPerUnit = 1024;  // "kB" of /proc/self/status

}  // namespace

PeakMemory::PeakMemory() {
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "memory");
    std::unique_lock lock(mutex_);
    do {
      sample();
    } while (!ended_.wait_for(lock, kInterval, [this] { return is_over_; }));
  });
}

PeakMemory::~PeakMemory() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void PeakMemory::sample() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const auto value = [&] { return std::stoll(line.substr(line.find(':') + 1)) * kBytesPerUnit; };
    if (line.starts_with("RssAnon:")) peak_.private_bytes = std::max<std::int64_t>(peak_.private_bytes, value());
    if (line.starts_with("VmHWM:")) peak_.resident_bytes = value();
  }
}

MemoryUse PeakMemory::read() {
  const std::lock_guard lock(mutex_);
  sample();
  return peak_;
}

}  // namespace trireme::launch
