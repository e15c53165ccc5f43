#include "kernels/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "base/check.h"

namespace trireme::kernels {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, RunsEveryTaskOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.num_threads(), GetParam());
  for (const std::int64_t num_tasks : {0, 1, 2, 3, 17, 1000}) {
    std::vector<int> counts(
        static_cast<std::size_t>(num_tasks));  // not atomic: a task runs once, and its write is seen
    pool.parallel_for(num_tasks, [&](std::int64_t i) { ++counts[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(counts, std::vector<int>(static_cast<std::size_t>(num_tasks), 1));
  }
}

TEST_P(ThreadPoolTest, SeesWhatTheCallerWroteBetweenCalls) {
  ThreadPool pool(GetParam());
  std::vector<std::int64_t> values(64, 0);
  std::int64_t addend = 0;
  for (std::int64_t round = 0; round < 3000; ++round) {
    addend = round;
    pool.parallel_for(64, [&](std::int64_t i) { values[static_cast<std::size_t>(i)] += addend; });
  }
  for (const std::int64_t value : values) EXPECT_EQ(value, 2999 * 3000 / 2);
}

TEST_P(ThreadPoolTest, WakesWorkersThatSleep) {
  ThreadPool pool(GetParam());
  std::atomic<int> count{0};
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.parallel_for(8, [&](std::int64_t) { count.fetch_add(1); });
  }
  EXPECT_EQ(count.load(), 160);
}

TEST_P(ThreadPoolTest, ReturnsOnlyAfterTheSlowestTask) {
  ThreadPool pool(GetParam());
  for (std::int64_t slow = 0; slow < 4; ++slow) {
    int finished = 0;
    pool.parallel_for(4, [&](std::int64_t i) {
      if (i != slow) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      finished = 1;
    });
    EXPECT_EQ(finished, 1);
  }
}

TEST_P(ThreadPoolTest, CountsFinishedTasks) {
  ThreadPool pool(GetParam());
  pool.parallel_for(10, [](std::int64_t) {});
  pool.parallel_for(1, [](std::int64_t) {});
  EXPECT_EQ(pool.progress().load(), 11u);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 3, 8));

TEST_P(ThreadPoolTest, ATasksExceptionReachesTheCallerAndThePoolGoesOn) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    const auto fail_once = [](std::int64_t i) {
      if (i == 5) throw std::bad_alloc();
    };
    EXPECT_THROW(pool.parallel_for(64, fail_once), std::bad_alloc);
    std::atomic<int> done{0};
    pool.parallel_for(64, [&](std::int64_t) { done.fetch_add(1); });
    EXPECT_EQ(done.load(), 64);
  }
}

TEST(ThreadPool, UsesSeveralThreadsAtOnce) {
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  // Each task waits for the other: this ends only if two threads run.
  pool.parallel_for(2, [&](std::int64_t) {
    inside.fetch_add(1);
    while (inside.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(inside.load(), 2);
}

// In a thread of its own, because it pins itself too.
TEST(ThreadPool, PinsCallerAndWorkersToTheirCores) {
  std::thread([] {
    ThreadPool pool(2, {0, 0});
    pool.pin_caller();
    std::atomic<int> inside{0};
    std::vector<int> allowed(2);
    pool.parallel_for(2, [&](std::int64_t i) {
      inside.fetch_add(1);
      while (inside.load() < 2) std::this_thread::yield();  // one task per thread
      cpu_set_t cores;
      ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof(cores), &cores), 0);
      allowed[static_cast<std::size_t>(i)] = CPU_COUNT(&cores) == 1 && CPU_ISSET(0, &cores);
    });
    EXPECT_EQ(allowed, (std::vector<int>{1, 1}));
  }).join();
}

TEST(ThreadPool, RefusesNonsense) {
  EXPECT_THROW(ThreadPool(0), base::CheckFailure);
  EXPECT_THROW(ThreadPool(3, {0}), base::CheckFailure);
  EXPECT_THROW(ThreadPool(2, {0, 1000}), base::CheckFailure);
}

TEST(ThreadPool, CanBeMadeAndEndedWithoutWork) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace trireme::kernels
