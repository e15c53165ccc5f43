// PeakMemory: the most memory that this process has held so far: what is private to it, sampled by a thread of its own,
// and all that was resident (pages of mapped files included), as the kernel counts it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace trireme::launch {

struct MemoryUse {
  std::int64_t private_bytes = 0;   // RssAnon, the greatest of the samples
  std::int64_t resident_bytes = 0;  // VmHWM
};

class PeakMemory {
 public:
  PeakMemory();  // starts to sample, ten times a second
  ~PeakMemory();
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  MemoryUse read();  // any thread

 private:
  void sample();  // holds mutex_

  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  MemoryUse peak_;
  std::thread thread_;
};

}  // namespace trireme::launch
