// Runs GoogleTest on every rank of an MPI job; all ranks run the same tests. Ranks agree on each test's outcome, and
// the exit code is the maximum over ranks. A rank that fails does not leave others waiting: a test that lasts too long,
// or whose end not all ranks reach, ends the job with the test's name.
#include "tests/support/mpi_main.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "parallel/mpi_environment.h"

namespace trireme::test {
namespace {

using parallel::Communicator;
using parallel::MpiEnvironment;

constexpr std::chrono::seconds kTestLimit{120};

struct World {
  std::unique_ptr<Communicator> for_tests, for_agreement;
};

// The one place that gtest's callbacks and the tests can reach it from.
World& world() {
  static World instance;
  return instance;
}

// Ends the job if the current test is not over in time.
class Watchdog {
 public:
  Watchdog() : thread_([this] { run(); }) {}
  ~Watchdog() {
    set({});
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void set(std::string test) {
    const std::lock_guard lock(mutex_);
    test_ = std::move(test);
    ++generation_;
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const auto generation = generation_;
      const auto news = [&] { return stop_ || generation_ != generation; };
      if (test_.empty()) {
        changed_.wait(lock, news);
      } else if (!changed_.wait_for(lock, kTestLimit, news)) {
        std::fprintf(stderr, "rank %d: %s takes more than %d s\n", world().for_tests->rank(), test_.c_str(),
                     static_cast<int>(kTestLimit.count()));
        MpiEnvironment::abort(1);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string test_;
  unsigned generation_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

int max_over_ranks(int value) {
  int result = value;
  for (const auto& bytes : world().for_agreement->all_gather(std::as_bytes(std::span(&value, 1)))) {
    result = std::max(result, *reinterpret_cast<const int*>(bytes.data()));
  }
  return result;
}

class Agreement : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    watchdog_.set(std::string(test.test_suite_name()) + "." + test.name());
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const bool failed_here = test.result()->Failed();
    if (failed_here) {
      std::fprintf(stderr, "rank %d: %s.%s failed\n", world().for_tests->rank(), test.test_suite_name(), test.name());
    }
    const bool failed = max_over_ranks(failed_here ? 1 : 0) != 0;
    watchdog_.set({});
    // Messages of a test that failed may still be under way and would reach the next one.
    if (failed) MpiEnvironment::abort(1);
  }

 private:
  Watchdog watchdog_;
};

}  // namespace

Communicator& mpi_world() {
  TRIREME_CHECK(world().for_tests != nullptr);
  return *world().for_tests;
}

}  // namespace trireme::test

int main(int argc, char** argv) {
  using namespace trireme::test;
  MpiEnvironment environment(&argc, &argv);
  world() = {environment.world(), environment.world()};
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (world().for_tests->rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Agreement);
  const int result = max_over_ranks(RUN_ALL_TESTS());
  delete listeners.Release(listeners.default_result_printer());
  world() = {};
  return result;
}
