#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "parallel/in_process_communicator.h"
#include "tests/support/ranks.h"

namespace trireme::test {

std::vector<int> rank_counts() {
  return {1, 2, 3, 4};
}

void for_each_rank(int num_ranks, const std::function<void(parallel::Communicator&)>& body) {
  constexpr std::chrono::seconds kLimit{30};
  auto communicators = parallel::make_in_process_communicators(num_ranks);
  std::mutex mutex;
  std::condition_variable changed;
  int num_running = num_ranks;
  std::exception_ptr error;

  std::vector<std::thread> threads;
  for (auto& communicator : communicators) {
    threads.emplace_back([&, own = communicator.get()] {
      std::exception_ptr thrown;
      try {
        body(*own);
      } catch (...) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (thrown && !error) error = thrown;
      --num_running;
      changed.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, kLimit, [&] { return num_running == 0; })) {
      std::fprintf(stderr, "%d of %d ranks are not done in time\n", num_running, num_ranks);
      std::abort();
    }
  }
  for (auto& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace trireme::test
