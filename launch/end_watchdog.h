// EndWatchdog: bounds the orderly end of a rank. MPI_Finalize waits for all ranks; one that was stopped in its last
// moments would keep the others for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "launch/log.h"

namespace trireme::launch {

class EndWatchdog {
 public:
  explicit EndWatchdog(Log& log) : log_(log) {}
  ~EndWatchdog();
  EndWatchdog(const EndWatchdog&) = delete;
  EndWatchdog& operator=(const EndWatchdog&) = delete;

  // From now on the process ends with kRankLost unless this object is destroyed within `limit`.
  void start(std::chrono::seconds limit);

 private:
  Log& log_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace trireme::launch
