#include "parallel/heartbeat_watch.h"

#include <gtest/gtest.h>

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;

constexpr HeartbeatWatch::TimePoint kStart{};

TEST(HeartbeatWatch, RankIsMissingAfterFivePeriodsWithoutABeat) {
  HeartbeatWatch watch({}, kStart);
  EXPECT_FALSE(watch.missing(kStart + 4999ms));
  watch.beat(kStart + 4900ms, {});
  EXPECT_FALSE(watch.missing(kStart + 9899ms));
  EXPECT_EQ(watch.missing(kStart + 9900ms), "no heartbeat for 5.0 s");
}

TEST(HeartbeatWatch, RankThatNeverBeatsIsMissing) {
  EXPECT_TRUE(HeartbeatWatch({}, kStart).missing(kStart + 5s));
}

TEST(HeartbeatWatch, RankHangsWhenItsProgressStandsUnderAPlan) {
  HeartbeatWatch watch({}, kStart);
  for (int second = 1; second <= 8; ++second) {
    watch.beat(kStart + std::chrono::seconds(second), {true, 17});
    EXPECT_FALSE(watch.hung()) << second;
  }
  watch.beat(kStart + 9s - 3ms, {true, 17});  // a beat that is a little early must not cost another period
  EXPECT_EQ(watch.hung(), "no progress for 8.0 s");
}

TEST(HeartbeatWatch, SlowRankDoesNotHang) {
  HeartbeatWatch watch({}, kStart);
  for (int second = 1; second <= 60; ++second) {
    watch.beat(kStart + std::chrono::seconds(second), {true, static_cast<std::uint64_t>(second / 7)});
    EXPECT_FALSE(watch.hung()) << second;
  }
}

TEST(HeartbeatWatch, RankWithoutAPlanDoesNotHang) {
  HeartbeatWatch watch({}, kStart);
  for (int second = 1; second <= 60; ++second) {
    watch.beat(kStart + std::chrono::seconds(second), {second % 6 != 0, 17});  // every new plan starts the time anew
    EXPECT_FALSE(watch.hung()) << second;
  }
}

TEST(HeartbeatWatch, TimeInWhichTheWatcherDidNotRunDoesNotCount) {
  HeartbeatWatch watch({}, kStart);
  watch.beat(kStart + 1s, {true, 17});
  watch.forgive(20s);
  EXPECT_FALSE(watch.missing(kStart + 22s));
  EXPECT_TRUE(watch.missing(kStart + 26s));
  watch.beat(kStart + 27s, {true, 17});  // stood for 26 s, of which 20 were not seen
  EXPECT_FALSE(watch.hung());
  watch.beat(kStart + 29s, {true, 17});
  EXPECT_TRUE(watch.hung());
}

}  // namespace
}  // namespace trireme::parallel
