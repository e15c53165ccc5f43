#include "parallel/heartbeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;
using test::for_each_rank;

// Fast, but not so fast that a busy machine looks dead.
const HeartbeatConfig kFast{100ms, 6, 800ms, 20s};

// What one rank's heartbeat reports.
class FailureLog {
 public:
  void add(const RankFailure& failure) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(failure);
    changed_.notify_all();
  }
  RankFailure wait_for_one() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return !failures_.empty(); });
    return failures_.empty() ? RankFailure{-1, "", "nothing reported"} : failures_.front();
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return failures_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RankFailure> failures_;
};

// Counts ranks that have seen what they wait for, so that none ends before all have.
class Quorum {
 public:
  explicit Quorum(int needed) : needed_(needed) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    if (--needed_ <= 0) changed_.notify_all();
    changed_.wait_for(lock, 20s, [&] { return needed_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int needed_;
};

RankActivity no_work() {
  return {};
}

struct Case {
  int num_ranks, failing;
};
void PrintTo(const Case& value, std::ostream* out) {
  *out << value.failing << "_of_" << value.num_ranks;
}

class HeartbeatFailureTest : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Ranks, HeartbeatFailureTest, testing::Values(Case{2, 1}, Case{4, 0}, Case{4, 2}),
                         testing::PrintToStringParamName());

struct Abandon {};

TEST_P(HeartbeatFailureTest, RankThatUnwindsIsDeadForAllOthersAtOnce) {
  const auto [num_ranks, failing] = GetParam();
  Quorum seen(num_ranks - 1);
  for_each_rank(num_ranks, [&, failing = failing](Communicator& communicator) {
    FailureLog log;
    try {
      Heartbeat heart(communicator, kFast, no_work, [&](const RankFailure& failure) { log.add(failure); });
      if (communicator.rank() == failing) throw Abandon{};
      const RankFailure failure = log.wait_for_one();
      EXPECT_EQ(failure.rank, failing);
      EXPECT_THAT(failure.cause, testing::HasSubstr("connection"));
      EXPECT_FALSE(failure.host.empty());
      seen.arrive_and_wait();
      EXPECT_EQ(log.count(), 1u);
    } catch (const Abandon&) {
    }
  });
}

TEST_P(HeartbeatFailureTest, SilentRankIsDeadForAllOthers) {
  const auto [num_ranks, failing] = GetParam();
  Quorum seen(num_ranks);
  for_each_rank(num_ranks, [&, failing = failing](Communicator& communicator) {
    FailureLog log;
    std::mutex silence;
    const bool fails = communicator.rank() == failing;
    const auto activity = [&] {
      const std::lock_guard lock(silence);  // blocks the heartbeat thread, as a stopped process would
      return RankActivity{};
    };
    Heartbeat heart(communicator, kFast, activity, [&](const RankFailure& failure) { log.add(failure); });
    if (fails) {
      const std::lock_guard lock(silence);
      seen.arrive_and_wait();
      return;
    }
    const RankFailure failure = log.wait_for_one();
    EXPECT_EQ(failure.rank, failing);
    EXPECT_THAT(failure.cause, testing::HasSubstr("no heartbeat for 0."));
    seen.arrive_and_wait();
  });
}

TEST_P(HeartbeatFailureTest, RankWithoutProgressUnderAPlanIsHungForAll) {
  const auto [num_ranks, failing] = GetParam();
  Quorum seen(num_ranks);
  for_each_rank(num_ranks, [&, failing = failing](Communicator& communicator) {
    FailureLog log;
    std::atomic<std::uint64_t> progress = 0;
    const bool fails = communicator.rank() == failing;
    const auto activity = [&] { return RankActivity{true, fails ? 7 : ++progress}; };
    Heartbeat heart(communicator, kFast, activity, [&](const RankFailure& failure) { log.add(failure); });
    const RankFailure failure = log.wait_for_one();
    EXPECT_EQ(failure.rank, failing);
    EXPECT_THAT(failure.cause, testing::HasSubstr("no progress for"));
    seen.arrive_and_wait();
  });
}

TEST_P(HeartbeatFailureTest, ReportedCauseReachesAllInItsOwnWords) {
  const auto [num_ranks, failing] = GetParam();
  Quorum seen(num_ranks);
  for_each_rank(num_ranks, [&, failing = failing](Communicator& communicator) {
    FailureLog log;
    Heartbeat heart(communicator, kFast, no_work, [&](const RankFailure& failure) { log.add(failure); });
    if (communicator.rank() == failing) heart.report_own_failure("out of memory: lower kv_cache.memory");
    const RankFailure failure = log.wait_for_one();
    EXPECT_EQ(failure.rank, failing);
    EXPECT_EQ(failure.cause, "out of memory: lower kv_cache.memory");
    seen.arrive_and_wait();
    EXPECT_EQ(log.count(), 1u);
  });
}

class HeartbeatTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, HeartbeatTest, testing::Values(1, 3));

TEST_P(HeartbeatTest, SlowRanksThatLeaveInAnyOrderAreNoFailure) {
  for (const bool first_leaves_first : {true, false}) {
    for_each_rank(GetParam(), [&](Communicator& communicator) {
      FailureLog log;
      std::atomic<int> calls = 0;
      // Progress moves once in 400 ms, half the limit.
      const auto activity = [&] { return RankActivity{true, static_cast<std::uint64_t>(++calls / 4)}; };
      {
        Heartbeat heart(communicator, kFast, activity, [&](const RankFailure& failure) { log.add(failure); });
        const int order = first_leaves_first ? communicator.rank() : communicator.size() - communicator.rank();
        std::this_thread::sleep_for(std::chrono::milliseconds(900 + 60 * order));
      }
      EXPECT_EQ(log.count(), 0u);
    });
  }
}

TEST_P(HeartbeatTest, ConnectionsMayEndWhenAShutdownIsExpected) {
  for_each_rank(GetParam(), [&](Communicator& communicator) {
    FailureLog log;
    try {
      Heartbeat heart(communicator, kFast, no_work, [&](const RankFailure& failure) { log.add(failure); });
      heart.expect_shutdown();
      communicator.barrier();
      if (communicator.rank() % 2 == 0) throw Abandon{};  // ends without a goodbye, rank 0 too
      std::this_thread::sleep_for(300ms);
    } catch (const Abandon&) {
    }
    EXPECT_EQ(log.count(), 0u);
  });
}

TEST(Heartbeat, AloneItNoticesThatItHangs) {
  for_each_rank(1, [](Communicator& communicator) {
    FailureLog log;
    Heartbeat heart(
        communicator, kFast,
        [] {
          return RankActivity{true, 1};
        },
        [&](const RankFailure& failure) { log.add(failure); });
    EXPECT_EQ(log.wait_for_one().rank, 0);
  });
}

}  // namespace
}  // namespace trireme::parallel
