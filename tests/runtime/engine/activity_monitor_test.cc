#include "runtime/engine/activity_monitor.h"

#include <gtest/gtest.h>

namespace trireme::engine {
namespace {

TEST(ActivityMonitor, StandsStillWhileAPartyThatIsDueStandsStill) {
  ActivityMonitor monitor;
  const auto first = monitor.observe({true, 1}, {true, 1});
  EXPECT_TRUE(first.holds_plan);
  EXPECT_EQ(monitor.observe({true, 1}, {true, 2}).progress, first.progress) << "the compute thread stands still";
  EXPECT_EQ(monitor.observe({true, 2}, {true, 2}).progress, first.progress) << "the communication thread stands still";
  EXPECT_NE(monitor.observe({true, 3}, {true, 3}).progress, first.progress);
}

TEST(ActivityMonitor, WhoHasNothingToDoMayStandStill) {
  ActivityMonitor monitor;
  const auto first = monitor.observe({false, 0}, {true, 1});
  const auto second = monitor.observe({false, 0}, {true, 2});
  EXPECT_NE(second.progress, first.progress);
  EXPECT_FALSE(monitor.observe({false, 0}, {false, 2}).holds_plan);
}

}  // namespace
}  // namespace trireme::engine
