// Every stage's share of every step reaches rank 0.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/cluster.h"
#include "tests/support/golden.h"

namespace trireme::engine {
namespace {

class StepTimingsTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Replicas, StepTimingsTest, testing::Values(1, 2));

std::uint64_t sum_of_times(const scheduler::StageTiming& timing) {
  return timing.busy_us + timing.wait_us + timing.receive_us + timing.send_us;
}

TEST_P(StepTimingsTest, CountRowsBytesAndTimeOfEveryStage) {
  config::Config config = test::exact_config(test::golden_model("llama"));
  config.pipeline.replicas = GetParam();
  test::with_cluster(config, 2 * GetParam(), [&](RankRuntime& runtime) {
    std::uint64_t num_records = 0, rows = 0;
    std::map<std::uint32_t, std::uint64_t> next_step;
    const auto hidden_bytes = static_cast<std::uint64_t>(runtime.description().hidden_size) * sizeof(float);
    runtime.engine().observe_steps([&](const StepRecord& record) {
      EXPECT_EQ(record.step, next_step[record.replica]++);
      ASSERT_EQ(record.timings.size(), 2u);
      const auto tokens =
          static_cast<std::uint32_t>(record.composition.prefill_tokens + record.composition.decode_tokens);
      EXPECT_EQ(record.timings[0].num_rows, tokens);
      EXPECT_EQ(record.timings[1].num_rows, tokens);
      EXPECT_EQ(record.timings[0].sent_bytes, tokens * hidden_bytes);
      EXPECT_EQ(record.timings[1].sent_bytes, 0u);
      EXPECT_EQ(record.timings[0].receive_us, 0u);
      EXPECT_GT(sum_of_times(record.timings[0]) + sum_of_times(record.timings[1]), 0u);
      EXPECT_GE(record.completed, record.scheduled);
      ++num_records;
      rows += tokens;
    });
    std::vector<scheduler::Request> requests;
    for (const auto& prompt : test::random_prompts(8, 40, 512)) requests.push_back(test::greedy(prompt, 5));
    test::generate(runtime, requests);

    std::uint64_t prefill = 0, decode = 0, steps = 0;
    for (const ReplicaTotals& totals : runtime.engine().totals()) {
      prefill += totals.prefill_tokens;
      decode += totals.decode_tokens;
      steps += totals.num_steps;
      EXPECT_EQ(totals.stages[0].num_rows, totals.prefill_tokens + totals.decode_tokens);
      EXPECT_GT(totals.stages[1].busy_us, 0u);
      EXPECT_EQ(totals.stages[0].sent_bytes, totals.stages[0].num_rows * hidden_bytes);
    }
    std::uint64_t prompt_tokens = 0;
    for (const auto& request : requests) prompt_tokens += request.prompt.size();
    EXPECT_EQ(prefill, prompt_tokens);
    EXPECT_EQ(decode, 8u * 4u);  // the first of five tokens comes of the prompt
    EXPECT_EQ(steps, num_records);
    EXPECT_EQ(rows, prefill + decode);
  });
}

}  // namespace
}  // namespace trireme::engine
