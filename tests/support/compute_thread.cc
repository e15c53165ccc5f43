#include <atomic>
#include <exception>

#include "tests/support/ranks.h"

namespace trireme::test {

void with_compute_thread(parallel::MessageLoop& loop, const std::function<void()>& body) {
  std::atomic<bool> finished = false;
  std::exception_ptr error;
  std::thread compute([&] {
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
    finished = true;
    loop.wake();
  });
  poll_until(loop, [&] { return finished.load(); });
  compute.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace trireme::test
