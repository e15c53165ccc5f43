// What goes into one step, and how steps follow each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/scheduler_harness.h"

namespace trireme::scheduler {
namespace {

using testing::ElementsAre;

TEST(BatchingTest, CutsAPromptIntoChunksThatKeepTheBudget) {
  SchedulerHarness engine(small_config());
  const SequenceId id = engine.add(prompt_of(50), 1);
  StepPlan plan = engine.step();
  EXPECT_EQ(plan.work[0].tokens.size(), 32u);
  EXPECT_FALSE(plan.work[0].sample);
  plan = engine.step();
  EXPECT_EQ(plan.work[0].first_position, 32);
  EXPECT_EQ(plan.work[0].tokens.size(), 18u);
  EXPECT_TRUE(plan.work[0].sample);
  EXPECT_EQ(engine.reason(id), FinishReason::kLength);
  EXPECT_TRUE(engine.scheduler.idle());
}

TEST(BatchingTest, ContextCostShortensLaterChunks) {
  SchedulerConfig config = small_config();
  config.context_cost = 0.1;
  SchedulerHarness engine(config);
  engine.add(prompt_of(50), 1);
  const std::size_t first = engine.step().work[0].tokens.size();
  const std::size_t second = engine.step().work[0].tokens.size();
  EXPECT_LT(first, 32u);
  EXPECT_LT(second, first);
}

TEST(BatchingTest, AStepSmallerThanOneTokenStillComputesOne) {
  SchedulerConfig config = small_config();
  config.max_step_tokens = 1;
  config.context_cost = 10;
  SchedulerHarness engine(config);
  const SequenceId id = engine.add(prompt_of(5), 2);
  engine.run_to_end();
  EXPECT_EQ(engine.output(id).size(), 2u);
}

TEST(BatchingTest, DecodesComeBeforePromptsInTheSameStep) {
  SchedulerHarness engine(small_config());
  const SequenceId decoding = engine.add(prompt_of(4), 10);
  engine.step();
  const SequenceId prompt = engine.add(prompt_of(40, 1), 10);
  const StepPlan plan = engine.step();
  EXPECT_THAT(sequences_of(plan), ElementsAre(decoding, prompt));
  EXPECT_EQ(num_tokens_of(plan, decoding), 1u);
  EXPECT_EQ(num_tokens_of(plan, prompt), 31u);
}

TEST(BatchingTest, TellsPrefillFromDecode) {
  SchedulerHarness engine(small_config());
  engine.add(prompt_of(4), 10);
  engine.step();
  EXPECT_EQ(engine.scheduler.last_composition(), (StepComposition{4, 0, 1}));
  engine.add(prompt_of(1, 1), 10);  // a prompt of one token is not decoding
  engine.step();
  EXPECT_EQ(engine.scheduler.last_composition(), (StepComposition{1, 1, 2}));
  engine.step();
  EXPECT_EQ(engine.scheduler.last_composition(), (StepComposition{0, 2, 2}));
}

TEST(BatchingTest, ALongPromptNeverDelaysADecode) {
  SchedulerHarness engine(small_config());
  const SequenceId decoding = engine.add(prompt_of(4), 20);
  engine.step();
  for (TokenId kind = 1; kind < 5; ++kind) engine.add(prompt_of(60, kind), 1);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(num_tokens_of(engine.step(), decoding), 1u);
}

TEST(BatchingTest, PromptsGoByPriorityThenArrival) {
  SchedulerHarness engine(small_config());
  const SequenceId first = engine.add(prompt_of(20, 1), 1);
  const SequenceId second = engine.add(prompt_of(20, 2), 1);
  Request urgent = engine.request(prompt_of(20, 3), 1);
  urgent.priority = 1;
  const SequenceId third = engine.add(urgent);
  EXPECT_THAT(sequences_of(engine.step()), ElementsAre(third, first));
  EXPECT_THAT(sequences_of(engine.step()), ElementsAre(first, second));
}

TEST(BatchingTest, ChunksOfOnePromptFollowEachOtherInFlight) {
  SchedulerConfig config = small_config();
  config.max_plans_in_flight = 3;
  SchedulerHarness engine(config);
  engine.add(prompt_of(50), 5);
  ASSERT_TRUE(engine.schedule());
  const auto second = engine.schedule();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->work[0].first_position, 32);
  EXPECT_FALSE(engine.schedule()) << "the next token is not sampled yet";
  engine.update();
  EXPECT_FALSE(engine.schedule());
  engine.update();
  EXPECT_TRUE(engine.schedule());
}

TEST(BatchingTest, SpreadsDecodesOverThePlansInFlight) {
  SchedulerConfig config = small_config();
  config.max_plans_in_flight = 2;
  SchedulerHarness engine(config);
  for (TokenId kind = 0; kind < 7; ++kind) engine.add(prompt_of(2, kind), 10);
  engine.step();
  EXPECT_EQ(engine.schedule()->work.size(), 4u);
  EXPECT_EQ(engine.schedule()->work.size(), 3u);
  EXPECT_FALSE(engine.schedule()) << "two plans are in flight";
  engine.update();
  EXPECT_EQ(engine.schedule()->work.size(), 4u);
}

TEST(BatchingTest, DoesNotSplitABatchWhenOnePlanIsInFlight) {
  SchedulerHarness engine(small_config());
  for (TokenId kind = 0; kind < 7; ++kind) engine.add(prompt_of(2, kind), 10);
  engine.step();
  EXPECT_EQ(engine.step().work.size(), 7u);
}

TEST(BatchingTest, DecodesBeyondTheBudgetTakeTurns) {
  SchedulerConfig config = small_config();
  config.max_step_tokens = 8;
  config.context_cost = 0.1;
  SchedulerHarness engine(config);
  std::map<SequenceId, int> turns;
  for (TokenId kind = 0; kind < 6; ++kind) turns[engine.add(prompt_of(1, kind), 60)] = 0;
  for (int i = 0; i < 15; ++i) engine.step();
  ASSERT_LT(engine.step().work.size(), 6u) << "by now a token costs more than an equal share";
  for (int i = 0; i < 24; ++i) {
    for (const SequenceId id : sequences_of(engine.step())) ++turns[id];
  }
  const auto [least, most] = std::ranges::minmax_element(turns, {}, [](const auto& turn) { return turn.second; });
  EXPECT_GT(least->second, 5);
  EXPECT_LE(most->second - least->second, 1);
}

TEST(BatchingTest, SpreadsALonePromptOverTheStages) {
  SchedulerConfig config = small_config();
  config.max_plans_in_flight = config.num_stages = 2;
  config.max_step_tokens = 512;
  config.max_context = 400;
  SchedulerHarness engine(config);
  engine.add(prompt_of(300), 1);
  EXPECT_EQ(engine.schedule()->num_rows(), 150);
  EXPECT_EQ(engine.schedule()->num_rows(), 150);
  engine.run_to_end();
  engine.add(prompt_of(80), 1);
  EXPECT_EQ(engine.schedule()->num_rows(), 64) << "smaller chunks waste arithmetic";
}

TEST(BatchingTest, OnlySequencesWithPenaltiesCarryTheirHistory) {
  SchedulerHarness engine(small_config());
  engine.add(prompt_of(5), 1);
  Request penalised = engine.request(prompt_of(6, 1), 1);
  penalised.sampling.repetition_penalty = 1.2f;
  engine.add(penalised);
  const StepPlan plan = engine.step();
  ASSERT_EQ(plan.admitted.size(), 2u);
  EXPECT_TRUE(plan.admitted[0].history.empty());
  EXPECT_EQ(plan.admitted[1].history, prompt_of(6, 1));
}

}  // namespace
}  // namespace trireme::scheduler
