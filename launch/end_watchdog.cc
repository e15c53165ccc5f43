#include "launch/end_watchdog.h"

#include <cstdlib>

#include "launch/exit_codes.h"

namespace trireme::launch {

void EndWatchdog::start(std::chrono::seconds limit) {
  thread_ = std::thread([this, limit] {
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, limit, [this] { return is_over_; })) return;
    log_.error("the other ranks do not end within " + std::to_string(limit.count()) +
               " s: one of them hangs or was stopped");
    std::_Exit(kRankLost);
  });
}

EndWatchdog::~EndWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace trireme::launch
