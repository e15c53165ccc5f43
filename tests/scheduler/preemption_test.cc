// What happens when KV blocks run out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/scheduler_state.h"
#include "tests/scheduler/scheduler_harness.h"

namespace trireme::scheduler {
namespace {

using testing::ElementsAre;

TEST(PreemptionTest, PreemptsNewestSequenceWhenBlocksRunOut) {
  SchedulerHarness engine(small_config(6));
  const SequenceId oldest = engine.add(prompt_of(7), 12);
  const SequenceId middle = engine.add(prompt_of(7, 1), 12);
  const SequenceId newest = engine.add(prompt_of(7, 2), 12);
  while (engine.scheduler.stats().num_preemptions == 0) engine.step();
  const StepPlan next = engine.step();
  EXPECT_EQ(num_tokens_of(next, newest), 0u);
  EXPECT_EQ(num_tokens_of(next, oldest), 1u);
  EXPECT_EQ(num_tokens_of(next, middle), 1u);
  engine.run_to_end();
  for (const SequenceId id : {oldest, middle, newest}) EXPECT_EQ(engine.output(id).size(), 12u) << "each token once";
}

TEST(PreemptionTest, LowerPriorityGivesWayFirst) {
  SchedulerHarness engine(small_config(4));
  Request low = engine.request(prompt_of(7), 8);
  low.priority = -1;
  const SequenceId older = engine.add(low);
  const SequenceId newer = engine.add(prompt_of(7, 1), 8);
  std::vector<SequenceId> released;
  while (released.empty()) released = engine.step().released;
  EXPECT_THAT(released, ElementsAre(older));
  engine.run_to_end();
  EXPECT_EQ(engine.output(older).size(), 8u);
  EXPECT_EQ(engine.output(newer).size(), 8u);
}

TEST(PreemptionTest, MoreUrgentOnesPreemptASequenceOnlySoOften) {
  SchedulerHarness engine(small_config(7));
  Request low = engine.request(prompt_of(3), 24);
  low.priority = -1;
  const SequenceId old = engine.add(low);
  int preempted = 0;
  for (TokenId kind = 1; engine.output(old).size() < 24; ++kind) {
    ASSERT_LT(kind, 500) << "starved";
    if (engine.scheduler.stats().num_waiting == 0) engine.add(prompt_of(6, kind), 10);
    const auto released = engine.step().released;
    const bool ended = engine.reason(old) != FinishReason::kNone;
    preempted += !ended && std::ranges::count(released, old) == 1;
  }
  EXPECT_EQ(preempted, kMaxPreemptions);
}

TEST(PreemptionTest, ATokenThatWasInFlightIsReportedOnceAndKept) {
  SchedulerConfig config = small_config(5);
  config.max_plans_in_flight = 2;
  SchedulerHarness engine(config);
  const SequenceId older = engine.add(prompt_of(8), 9);
  const SequenceId newer = engine.add(prompt_of(7, 1), 9);
  engine.run_to_end();
  EXPECT_GT(engine.scheduler.stats().num_preemptions, 0);
  EXPECT_EQ(engine.output(older).size(), 9u);
  EXPECT_EQ(engine.output(newer).size(), 9u);
}

TEST(PreemptionTest, AReadmittedSequenceComputesPromptAndOutputAgain) {
  SchedulerHarness engine(small_config(4));
  engine.add(prompt_of(7), 6);
  Request penalised = engine.request(prompt_of(7, 1), 6);
  penalised.sampling.presence_penalty = 1.0f;
  const SequenceId newer = engine.add(penalised);
  while (engine.scheduler.stats().num_preemptions == 0) engine.step();
  const std::size_t known = 7 + engine.output(newer).size();
  StepPlan plan;
  while (plan.admitted.empty()) plan = engine.step();
  EXPECT_EQ(plan.admitted[0].history.size(), known);
  EXPECT_EQ(plan.admitted[0].prompt_length, 7);
  EXPECT_EQ(num_tokens_of(plan, newer), known);
  EXPECT_TRUE(plan.work.back().sample);
}

TEST(PreemptionTest, ScoresAreGivenOnceAlsoWhenThePromptIsComputedTwice) {
  SchedulerConfig config = small_config(10);
  config.max_step_tokens = 3;
  SchedulerHarness engine(config);
  const SequenceId older = engine.add(prompt_of(2), 30);
  Request scored = engine.request(prompt_of(30, 1), 1);
  scored.prompt_logprobs = true;
  const SequenceId newer = engine.add(scored);
  engine.run_to_end();
  EXPECT_GT(engine.scheduler.stats().num_preemptions, 0);
  EXPECT_EQ(engine.output(older).size(), 30u);
  const auto event = std::ranges::find(engine.events, newer, &SequenceEvent::sequence);
  EXPECT_EQ(event->prompt_logprobs.size(), 29u);
}

TEST(PreemptionTest, BlocksThatPlansInFlightHoldBackAreAwaitedRatherThanTaken) {
  SchedulerConfig config = small_config(4);
  config.max_plans_in_flight = 2;
  SchedulerHarness engine(config);
  const SequenceId ending = engine.add(prompt_of(4), 4);
  const SequenceId growing = engine.add(prompt_of(7, 1), 5);
  engine.step();
  ASSERT_TRUE(engine.schedule());  // `ending` decodes, in a second block
  ASSERT_TRUE(engine.schedule());  // `growing` decodes, its block fills
  engine.scheduler.finish(ending);
  engine.run_to_end();
  EXPECT_EQ(engine.output(growing).size(), 5u);
  EXPECT_EQ(engine.scheduler.stats().num_preemptions, 0);
}

}  // namespace
}  // namespace trireme::scheduler
