// How results end sequences, and what is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/scheduler_harness.h"

namespace trireme::scheduler {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

TEST(ResultTest, EndsAtMaxTokensAndWhenTheContextIsFull) {
  SchedulerHarness engine(small_config());
  const SequenceId limited = engine.add(prompt_of(5), 7);
  const SequenceId full = engine.add(prompt_of(60, 1), 100);
  engine.run_to_end();
  EXPECT_EQ(engine.output(limited).size(), 7u);
  EXPECT_EQ(engine.output(full).size(), 4u);
  EXPECT_EQ(engine.reason(full), FinishReason::kLength);
}

TEST(ResultTest, AStopTokenEndsOnlyAfterMinTokens) {
  SchedulerHarness engine(small_config());
  Request request = engine.request(prompt_of(5), 20);
  request.stop_token_ids = {0, 1, 2, 3, 4, 5};  // all that the oracle says
  const SequenceId at_once = engine.add(request);
  request.id = RequestId{77};
  request.min_tokens = 3;
  const SequenceId later = engine.add(request);
  engine.run_to_end();
  EXPECT_EQ(engine.output(at_once).size(), 1u) << "the stop token itself is reported";
  EXPECT_EQ(engine.reason(at_once), FinishReason::kStop);
  EXPECT_EQ(engine.output(later).size(), 4u);
}

TEST(ResultTest, PromptScoresComeWithTheFirstToken) {
  SchedulerConfig config = small_config();
  config.max_step_tokens = 7;
  SchedulerHarness engine(config);
  Request request = engine.request(prompt_of(20), 2);
  request.prompt_logprobs = true;
  engine.add(request);
  engine.run_to_end();
  ASSERT_EQ(engine.events.size(), 2u);
  EXPECT_EQ(engine.events[0].prompt_logprobs.size(), 19u);
  EXPECT_TRUE(engine.events[1].prompt_logprobs.empty());
  const TokenOracle oracle(std::make_shared<Request>(request), 0, 64);
  EXPECT_EQ(engine.events[0].prompt_logprobs[18], oracle.logprob(18, request.prompt[19]));
}

TEST(ResultTest, ScoringAloneEndsWithThePrompt) {
  SchedulerHarness engine(small_config());
  Request request = engine.request(prompt_of(64), 0);
  request.prompt_logprobs = true;
  const SequenceId id = engine.add(request);
  engine.run_to_end();
  ASSERT_EQ(engine.events.size(), 1u);
  EXPECT_EQ(engine.events[0].prompt_logprobs.size(), 63u);
  EXPECT_FALSE(engine.events[0].token);
  EXPECT_EQ(engine.reason(id), FinishReason::kLength);
}

TEST(ResultTest, ASequencePastItsDeadlineIsNeverStarted) {
  SchedulerHarness engine(small_config());
  Request request = engine.request(prompt_of(5), 5);
  request.deadline = engine.now + 10ms;
  const SequenceId id = engine.add(request);
  engine.now += 10ms;
  EXPECT_FALSE(engine.schedule());
  EXPECT_EQ(engine.reason(id), FinishReason::kDeadline);
  EXPECT_TRUE(engine.scheduler.idle());
}

TEST(ResultTest, ARunningSequenceEndsAtItsDeadline) {
  SchedulerHarness engine(small_config());
  Request request = engine.request(prompt_of(5), 50);
  request.deadline = engine.now + 10ms;
  const SequenceId late = engine.add(request);
  const SequenceId other = engine.add(prompt_of(5, 1), 5);
  engine.step();
  ASSERT_TRUE(engine.schedule());
  engine.now += 10ms;
  engine.schedule();
  EXPECT_EQ(engine.reason(late), FinishReason::kDeadline);
  engine.run_to_end();
  EXPECT_EQ(engine.output(late).size(), 1u) << "nothing is reported after the end";
  EXPECT_EQ(engine.output(other).size(), 5u);
}

TEST(ResultTest, ResultsOfAFinishedSequenceAreDropped) {
  SchedulerHarness engine(small_config());
  const SequenceId cancelled = engine.add(prompt_of(5), 5);
  const SequenceId other = engine.add(prompt_of(5, 1), 5);
  ASSERT_TRUE(engine.schedule());
  engine.scheduler.finish(cancelled);
  engine.scheduler.finish(cancelled);
  engine.scheduler.finish(SequenceId{12345});
  EXPECT_EQ(engine.scheduler.stats().free_blocks[0], 98) << "freed at once";
  engine.update();
  EXPECT_THAT(engine.step().released, ElementsAre(cancelled));
  engine.run_to_end();
  EXPECT_TRUE(engine.output(cancelled).empty());
  EXPECT_EQ(engine.output(other).size(), 5u);
}

TEST(ResultTest, NonFiniteLogitsEndOneSequenceAlone) {
  SchedulerConfig config = small_config();
  config.prefix_cache = true;
  SchedulerHarness engine(config);
  const SequenceId broken = engine.add(prompt_of(12), 5);
  const SequenceId other = engine.add(prompt_of(12, 1), 5);
  engine.pipeline.break_sequence(broken);
  engine.run_to_end();
  EXPECT_EQ(engine.reason(broken), FinishReason::kNonFinite);
  EXPECT_EQ(engine.output(other).size(), 5u);
  engine.add(prompt_of(12), 1);
  EXPECT_EQ(engine.step().work[0].first_position, 0) << "its blocks are not shared";
}

TEST(ResultTest, AResultThatDoesNotAnswerThePlanIsAMistake) {
  const auto refused = [](const auto& change) {
    SchedulerHarness engine(small_config());
    Request request = engine.request(prompt_of(5), 5);
    request.prompt_logprobs = true;
    engine.add(request);
    engine.schedule();
    StepResult result = engine.pipeline.fetch_result();
    change(result);
    try {
      engine.scheduler.update(result, engine.now);
    } catch (const base::CheckFailure&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused([](StepResult&) {}));
  EXPECT_TRUE(refused([](StepResult& result) { ++result.step; }));
  EXPECT_TRUE(refused([](StepResult& result) { ++result.epoch; }));
  EXPECT_TRUE(refused([](StepResult& result) { ++result.replica; }));
  EXPECT_TRUE(refused([](StepResult& result) { result.sampled.clear(); }));
  EXPECT_TRUE(refused([](StepResult& result) { result.sampled.push_back(result.sampled[0]); }));
  EXPECT_TRUE(refused([](StepResult& result) { ++result.sampled[0].sequence.value; }));
  EXPECT_TRUE(refused([](StepResult& result) { result.scored.clear(); }));
  EXPECT_TRUE(refused([](StepResult& result) { ++result.scored[0].first_position; }));
  EXPECT_TRUE(refused([](StepResult& result) { result.scored[0].logprobs.pop_back(); }));
}

TEST(ResultTest, AResultWithoutAPlanIsAMistake) {
  Scheduler scheduler(small_config());
  EXPECT_THROW(scheduler.update(StepResult{}, TimePoint{}), base::CheckFailure);
}

}  // namespace
}  // namespace trireme::scheduler
