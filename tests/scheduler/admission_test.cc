// Which sequences may run, and what they share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/scheduler_state.h"
#include "tests/scheduler/scheduler_harness.h"

namespace trireme::scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const SchedulerConfig& config, std::int32_t prompt_length, std::int32_t max_tokens) {
  Scheduler scheduler(config);
  Request request;
  request.prompt = prompt_of(prompt_length);
  request.max_tokens = max_tokens;
  const auto added = scheduler.add(std::make_shared<const Request>(request), 0, TimePoint{});
  return added.ok() ? "" : added.error().message;
}

TEST(AdmissionTest, RefusesWhatCanNeverFitAndNamesTheLimit) {
  SchedulerConfig config = small_config();
  EXPECT_THAT(refusal(config, 0, 1), HasSubstr("prompt"));
  EXPECT_THAT(refusal(config, 64, 1), HasSubstr("max_context"));
  EXPECT_THAT(refusal(config, 65, 0), HasSubstr("max_context"));
  EXPECT_THAT(refusal(config, 5, -1), HasSubstr("max_tokens"));
  EXPECT_EQ(refusal(config, 63, 1000), "");
  EXPECT_EQ(refusal(config, 64, 0), "");
  config.kv_groups = {{0, 8}};
  EXPECT_THAT(refusal(config, 30, 3), HasSubstr("9 KV blocks of group 0, which has 8"));
  EXPECT_EQ(refusal(config, 30, 2), "");
  config.kv_groups = {{0, 16}, {8, 2}};
  EXPECT_THAT(refusal(config, 10, 2), HasSubstr("group 1"));
  config.kv_groups = {{0, 16}, {8, 3}};
  EXPECT_EQ(refusal(config, 60, 4), "");
}

TEST(AdmissionTest, NeverRunsMoreThanMaxBatch) {
  SchedulerConfig config = small_config();
  config.max_batch = 2;
  SchedulerHarness engine(config);
  for (TokenId kind = 0; kind < 5; ++kind) engine.add(prompt_of(2, kind), 3);
  engine.step();
  EXPECT_EQ(engine.scheduler.stats().num_running, 2);
  EXPECT_EQ(engine.scheduler.stats().num_waiting, 3);
  engine.run_to_end();
}

TEST(AdmissionTest, APromptWaitsUntilAllOfItFits) {
  SchedulerHarness engine(small_config(8));
  const SequenceId running = engine.add(prompt_of(20), 5);
  engine.step();
  const SequenceId large = engine.add(prompt_of(16, 1), 1);
  EXPECT_EQ(num_tokens_of(engine.step(), large), 0u);
  engine.run_to_end();
  EXPECT_EQ(engine.output(running).size(), 5u);
  EXPECT_EQ(engine.output(large).size(), 1u);
  EXPECT_EQ(engine.scheduler.stats().num_preemptions, 0);
}

TEST(AdmissionTest, SmallOnesPassAHeadThatDoesNotFitButOnlySoOften) {
  SchedulerHarness engine(small_config(16));
  engine.add(prompt_of(8), 50);
  engine.step();
  const SequenceId large = engine.add(prompt_of(56, 1), 1);
  std::vector<SequenceId> small;
  for (int i = 0; i < 60; ++i) small.push_back(engine.add(prompt_of(2, 2), 1));
  engine.run_to_end();
  const auto position = [&](SequenceId id) {
    const auto is_end = [id](const SequenceEvent& e) {
      return e.sequence == id && e.finish_reason != FinishReason::kNone;
    };
    return std::ranges::find_if(engine.events, is_end) - engine.events.begin();
  };
  EXPECT_LT(position(small[0]), position(large)) << "a small one was not blocked";
  const auto before = std::ranges::count_if(small, [&](SequenceId id) { return position(id) < position(large); });
  EXPECT_GE(before, kMaxOvertaken);
  EXPECT_LE(before, kMaxOvertaken + engine.config.max_batch);
}

TEST(AdmissionTest, APrefixHitSkipsWhatIsComputed) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  SchedulerHarness engine(config);
  engine.add(prompt_of(20), 1);
  engine.run_to_end();
  engine.add(prompt_of(26), 1);
  const StepPlan plan = engine.step();
  EXPECT_EQ(plan.work[0].first_position, 20);
  EXPECT_TRUE(plan.copies.empty());
  EXPECT_EQ(engine.scheduler.stats().prefix_hit_tokens, 20);
  EXPECT_EQ(engine.scheduler.stats().prefix_query_tokens, 46);
}

TEST(AdmissionTest, TheLastPromptTokenIsComputedEvenIfAllIsCached) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  SchedulerHarness engine(config);
  engine.add(prompt_of(20), 1);
  engine.run_to_end();
  const SequenceId again = engine.add(prompt_of(20), 1);
  const StepPlan plan = engine.step();
  EXPECT_EQ(plan.work[0].first_position, 19);
  ASSERT_EQ(plan.copies.size(), 1u);
  EXPECT_EQ(plan.copies[0].num_tokens, 3);
  EXPECT_EQ(engine.output(again).size(), 1u);
}

TEST(AdmissionTest, PromptLogprobsBypassThePrefixCache) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  SchedulerHarness engine(config);
  engine.add(prompt_of(20), 1);
  engine.run_to_end();
  Request scored = engine.request(prompt_of(20), 1);
  scored.prompt_logprobs = true;
  engine.add(scored);
  EXPECT_EQ(engine.step().work[0].first_position, 0);
}

TEST(AdmissionTest, AWindowGroupNeedsOnlyItsLastWindowForAHit) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  config.kv_groups = {{0, 20}, {5, 4}};
  SchedulerHarness engine(config);
  engine.add(prompt_of(24), 1);  // more than the window pool holds at a time
  engine.run_to_end();
  engine.add(prompt_of(30), 1);
  const StepPlan plan = engine.step();
  EXPECT_EQ(plan.work[0].first_position, 24);
  ASSERT_EQ(plan.appended.size(), 2u);
  EXPECT_EQ(plan.appended[1].blocks.front(), kNoBlock);
  EXPECT_NE(plan.appended[1].blocks[5], kNoBlock);
}

TEST(AdmissionTest, SiblingsStartWhenTheFirstHasComputedThePrompt) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  SchedulerHarness engine(config);
  Request request = engine.request(prompt_of(33), 2);
  request.num_choices = 3;
  const std::vector<SequenceId> ids = engine.add_choices(request);
  EXPECT_THAT(sequences_of(engine.step()), ElementsAre(ids[0]));
  EXPECT_THAT(sequences_of(engine.step()), ElementsAre(ids[0]));
  const StepPlan plan = engine.step();
  EXPECT_THAT(sequences_of(plan), ElementsAre(ids[0], ids[1], ids[2]));
  EXPECT_EQ(num_tokens_of(plan, ids[2]), 1u);
  engine.run_to_end();
  for (const SequenceId id : ids) EXPECT_EQ(engine.output(id).size(), 2u);
}

TEST(AdmissionTest, SiblingsGoOnWhenTheFirstIsCancelled) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  SchedulerHarness engine(config);
  Request request = engine.request(prompt_of(40), 2);
  request.num_choices = 3;
  const std::vector<SequenceId> ids = engine.add_choices(request);
  engine.step();
  engine.scheduler.finish(ids[0]);
  engine.scheduler.finish(ids[2]);
  engine.run_to_end();
  EXPECT_EQ(engine.output(ids[1]).size(), 2u);
}

}  // namespace
}  // namespace trireme::scheduler
