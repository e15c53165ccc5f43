// When sequences are admitted, in what order, and in what company.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "tests/scheduler/scheduler_harness.h"

namespace trireme::scheduler {
namespace {

using std::chrono::milliseconds;

SchedulerConfig roomy_config() {
  SchedulerConfig config = small_config(1000);
  config.max_context = 200;
  config.max_step_tokens = 64;
  return config;
}

std::size_t num_admitted(const StepPlan& plan) {
  return plan.admitted.size();
}

Request of_tenant(SchedulerHarness& harness, const std::string& tenant, std::int32_t prompt, std::int32_t output) {
  Request request = harness.request(prompt_of(prompt), output);
  request.tenant = tenant;
  return request;
}

TEST(GatherWindowTest, AdmitsAtOnceWhenNothingElseWouldUseTheStep) {
  SchedulerConfig config = roomy_config();
  config.batching.window = milliseconds(50);
  SchedulerHarness harness(config);
  harness.add(prompt_of(5), 4);
  EXPECT_EQ(num_admitted(harness.step()), 1u);
}

TEST(GatherWindowTest, LetsARequestWaitForCompanyWhileOthersDecode) {
  SchedulerConfig config = roomy_config();
  config.batching.window = milliseconds(50);
  SchedulerHarness harness(config);
  harness.add(prompt_of(5), 100);
  harness.step();
  harness.add(prompt_of(5), 4);
  EXPECT_EQ(num_admitted(harness.step()), 0u);
  harness.now += milliseconds(30);
  harness.add(prompt_of(7), 4);
  EXPECT_EQ(num_admitted(harness.step()), 0u);
  harness.now += milliseconds(20);
  EXPECT_EQ(num_admitted(harness.step()), 2u) << "the window of the first is over, and the second comes along";
}

TEST(GatherWindowTest, DoesNotWaitOnceEnoughHaveGatheredToFillTheStep) {
  SchedulerConfig config = roomy_config();
  config.batching.window = milliseconds(50);
  SchedulerHarness harness(config);
  harness.add(prompt_of(5), 100);
  harness.step();
  for (int i = 0; i < 4; ++i) harness.add(prompt_of(20), 4);
  EXPECT_GE(num_admitted(harness.step()), 3u);
}

TEST(GatherWindowTest, IsOffByDefault) {
  SchedulerHarness harness(roomy_config());
  harness.add(prompt_of(5), 100);
  harness.step();
  harness.add(prompt_of(5), 4);
  EXPECT_EQ(num_admitted(harness.step()), 1u);
}

TEST(MixedStepTest, BoundsThePromptTokensBesideDecodingSequences) {
  SchedulerConfig config = roomy_config();
  config.batching.mixed_prefill_tokens = 16;
  SchedulerHarness harness(config);
  const SequenceId decoding = harness.add(prompt_of(5), 100);
  harness.step();
  const SequenceId prompt = harness.add(prompt_of(60), 4);
  const StepPlan plan = harness.step();
  EXPECT_EQ(num_tokens_of(plan, decoding), 1u);
  EXPECT_EQ(num_tokens_of(plan, prompt), 16u);
}

TEST(MixedStepTest, GivesAPromptTheWholeStepWhenNothingDecodes) {
  SchedulerConfig config = roomy_config();
  config.batching.mixed_prefill_tokens = 16;
  SchedulerHarness harness(config);
  const SequenceId prompt = harness.add(prompt_of(60), 4);
  EXPECT_EQ(num_tokens_of(harness.step(), prompt), 60u);
}

SchedulerConfig bucketed_config() {
  SchedulerConfig config = roomy_config();
  config.batching.bucket_bounds = {16};
  config.batching.bucket_cap = 2;
  config.max_batch = 6;
  return config;
}

TEST(BucketTest, ACapLeavesPlacesForOtherBuckets) {
  SchedulerHarness harness(bucketed_config());
  for (int i = 0; i < 8; ++i) harness.add(prompt_of(20), 50);
  for (int i = 0; i < 8; ++i) harness.add(prompt_of(4), 50);
  std::map<bool, int> admitted;  // by whether the prompt is long
  for (int step = 0; step < 3; ++step) {
    for (const SequenceAdmission& admission : harness.step().admitted) ++admitted[admission.prompt_length >= 16];
  }
  EXPECT_EQ(admitted[true] + admitted[false], 6);
  EXPECT_GE(admitted[true], 2);
  EXPECT_GE(admitted[false], 2);
}

TEST(BucketTest, ACapLeavesNothingIdleWhenOnlyThatBucketWaits) {
  SchedulerHarness harness(bucketed_config());
  for (int i = 0; i < 8; ++i) harness.add(prompt_of(20), 50);
  std::size_t admitted = 0;
  for (int step = 0; step < 4; ++step) admitted += num_admitted(harness.step());
  EXPECT_EQ(admitted, 6u) << "max_batch, not the cap";
}

TEST(PriorityTest, HigherGoesFirst) {
  SchedulerConfig config = roomy_config();
  config.max_batch = 1;
  SchedulerHarness harness(config);
  Request low = harness.request(prompt_of(4), 2), high = harness.request(prompt_of(4), 2);
  high.priority = 1;
  harness.add(low);
  const SequenceId first = harness.add(high);
  EXPECT_EQ(sequences_of(harness.step()), std::vector{first});
}

TEST(PriorityTest, AStreamOfHighPrioritiesDoesNotStarveALowOne) {
  SchedulerConfig config = roomy_config();
  config.max_batch = 1;
  config.batching.priority_worth = milliseconds(1000);
  SchedulerHarness harness(config);
  Request low = harness.request(prompt_of(4), 1);
  low.priority = -2;
  const SequenceId waiting = harness.add(low);
  for (int i = 0; i < 100 && harness.reason(waiting) == FinishReason::kNone; ++i) {
    harness.now += milliseconds(100);
    harness.add(prompt_of(4), 1);
    harness.add(prompt_of(4), 1);
    harness.step();
  }
  EXPECT_EQ(harness.reason(waiting), FinishReason::kLength);
  EXPECT_GE(harness.now.time_since_epoch(), milliseconds(2000));
}

TEST(FairShareTest, AFloodOfOneTenantLeavesTheOthersTheirShare) {
  SchedulerConfig config = roomy_config();
  config.max_batch = 2;
  SchedulerHarness harness(config);
  for (int i = 0; i < 200; ++i) harness.add(of_tenant(harness, "flood", 10, 10));
  for (int i = 0; i < 20; ++i) harness.step();
  std::vector<SequenceId> others;
  for (int i = 0; i < 10; ++i) others.push_back(harness.add(of_tenant(harness, "other", 10, 10)));
  std::map<std::string, int> done;
  for (int step = 0; step < 130; ++step) harness.step();
  for (const SequenceEvent& event : harness.events) {
    if (event.finish_reason == FinishReason::kNone) continue;
    const bool is_other = std::find(others.begin(), others.end(), event.sequence) != others.end();
    ++done[is_other ? "other" : "flood"];
  }
  EXPECT_EQ(done["other"], 10);
  EXPECT_GE(done["flood"], 8);
}

TEST(FairShareTest, IdleTimeEarnsNoCredit) {
  SchedulerConfig config = roomy_config();
  config.max_batch = 1;
  SchedulerHarness harness(config);
  harness.add(of_tenant(harness, "late", 4, 1));
  harness.step();
  for (int i = 0; i < 60; ++i) harness.add(of_tenant(harness, "steady", 10, 1));
  for (int i = 0; i < 20; ++i) harness.step();
  std::vector<SequenceId> late;
  for (int i = 0; i < 10; ++i) late.push_back(harness.add(of_tenant(harness, "late", 10, 1)));
  int late_among_next = 0;
  for (int i = 0; i < 10; ++i) {
    const StepPlan plan = harness.step();
    late_among_next += std::find(late.begin(), late.end(), plan.work.front().sequence) != late.end() ? 1 : 0;
  }
  EXPECT_GE(late_among_next, 4);
  EXPECT_LE(late_among_next, 6) << "it must not catch up on what it did not ask for";
}

TEST(StartTest, TellsOfEachSequenceOnceAndWhatThePrefixCacheHad) {
  SchedulerConfig config = roomy_config();
  config.prefix_cache = true;
  SchedulerHarness harness(config);
  harness.add(prompt_of(16), 2);
  harness.run_to_end();
  const SequenceId second = harness.add(prompt_of(16), 2);
  harness.scheduler.take_started();
  harness.run_to_end();
  const std::vector<SequenceStart> started = harness.scheduler.take_started();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started.front().sequence, second);
  EXPECT_GE(started.front().cached_tokens, 12);
}

TEST(ScopeTest, ForgettingAScopeFreesItsBlocksAndEndsItsHits) {
  SchedulerConfig config = roomy_config();
  config.prefix_cache = true;
  config.num_adapters = 1;
  SchedulerHarness harness(config);
  for (const std::uint32_t adapter : {0u, 1u}) {
    Request request = harness.request(prompt_of(16), 2);
    request.cache_scope = "dialogue";
    request.adapter = adapter;
    harness.add(request);
  }
  harness.run_to_end();
  harness.scheduler.forget_scope("dialogue");
  harness.scheduler.take_started();
  Request again = harness.request(prompt_of(16), 2);
  again.cache_scope = "dialogue";
  harness.add(again);
  harness.run_to_end();
  EXPECT_EQ(harness.scheduler.take_started().front().cached_tokens, 0);
  EXPECT_EQ(harness.scheduler.stats().free_blocks, harness.scheduler.stats().total_blocks);
}

}  // namespace
}  // namespace trireme::scheduler
