#include "runtime/engine/step_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"

namespace trireme::engine {
namespace {

using std::chrono::milliseconds;

constexpr scheduler::TimePoint kStart{};

scheduler::StepPlan plan_of(std::uint32_t replica, scheduler::StepNumber step) {
  scheduler::StepPlan plan;
  plan.replica = replica;
  plan.step = step;
  return plan;
}

scheduler::StepResult answer_of(std::uint32_t replica, std::uint32_t stage, scheduler::StepNumber step) {
  scheduler::StepResult result;
  result.replica = replica;
  result.step = step;
  result.timing = {stage, 3, 100 + step, 10, 5, 2, 48};
  return result;
}

TEST(StepLogTest, AStepIsObservedWhenItsLastStageHasAnswered) {
  StepLog log(1, 2);
  std::vector<StepRecord> observed;
  log.set_observer([&](const StepRecord& record) { observed.push_back(record); });
  log.sent(plan_of(0, 0), {5, 2, 3}, kStart);
  log.sent(plan_of(0, 1), {0, 3, 3}, kStart + milliseconds(1));
  log.answered(answer_of(0, 0, 0), kStart + milliseconds(2));
  log.answered(answer_of(0, 0, 1), kStart + milliseconds(3));
  EXPECT_TRUE(observed.empty());
  EXPECT_FALSE(log.complete());

  log.answered(answer_of(0, 1, 0), kStart + milliseconds(4));
  ASSERT_EQ(observed.size(), 1u);
  EXPECT_EQ(observed[0].composition, (scheduler::StepComposition{5, 2, 3}));
  EXPECT_EQ(observed[0].completed - observed[0].scheduled, milliseconds(4));
  EXPECT_EQ(observed[0].timings[1].stage, 1u);
  log.answered(answer_of(0, 1, 1), kStart + milliseconds(5));
  EXPECT_EQ(observed.at(1).step, 1u);
  EXPECT_TRUE(log.complete());
}

TEST(StepLogTest, TheLastStageMayBeTheFirstToBeHeard) {
  StepLog log(1, 2);
  log.sent(plan_of(0, 0), {}, kStart);
  log.answered(answer_of(0, 1, 0), kStart);
  EXPECT_FALSE(log.complete());
  log.answered(answer_of(0, 0, 0), kStart);
  EXPECT_TRUE(log.complete());
}

TEST(StepLogTest, SumsPerReplicaAndStage) {
  StepLog log(2, 1);
  for (scheduler::StepNumber step = 0; step < 3; ++step) {
    log.sent(plan_of(1, step), {4, 1, 2}, kStart);
    log.answered(answer_of(1, 0, step), kStart);
  }
  EXPECT_EQ(log.totals()[0].num_steps, 0u);
  EXPECT_EQ(log.totals()[0].stages[0], StageTotals{});
  const ReplicaTotals& totals = log.totals()[1];
  EXPECT_EQ(totals.num_steps, 3u);
  EXPECT_EQ(totals.prefill_tokens, 12u);
  EXPECT_EQ(totals.decode_tokens, 3u);
  EXPECT_EQ(totals.stages[0], (StageTotals{9, 144, 303, 30, 15, 6}));
}

TEST(StepLogTest, AnswersThatFitNoStepAreFaults) {
  StepLog log(1, 2);
  EXPECT_THROW(log.answered(answer_of(0, 0, 0), kStart), base::CheckFailure);  // nothing was sent
  log.sent(plan_of(0, 0), {}, kStart);
  EXPECT_THROW(log.answered(answer_of(0, 0, 1), kStart), base::CheckFailure);
  EXPECT_THROW(log.answered(answer_of(0, 2, 0), kStart), base::CheckFailure);
  EXPECT_THROW(log.answered(answer_of(1, 0, 0), kStart), base::CheckFailure);
  log.answered(answer_of(0, 0, 0), kStart);
  EXPECT_THROW(log.answered(answer_of(0, 0, 0), kStart), base::CheckFailure);  // twice
}

}  // namespace
}  // namespace trireme::engine
