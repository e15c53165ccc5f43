// A workload answered by a real engine, in both ways.
#include "launch/bench/ladder/workload_run.h"

#include <gtest/gtest.h>

#include <set>

#include "launch/bench/ladder/padded_batch.h"
#include "tests/support/cluster.h"

namespace trireme::launch {
namespace {

constexpr std::int32_t kVocabulary = 512;
constexpr WorkloadShape kShape{.num_requests = 18, .num_clients = 6, .short_prompt = 5, .short_output = 3};

std::string test_model() {
  return std::string(TRIREME_TEST_DATA) + "/models/llama";
}

config::Config config_without_reuse() {
  config::Config config = test::default_config(test_model());
  config.kv_cache.prefix_cache = false;
  return config;
}

server::ServiceLimits limits_with(std::size_t response_cache_entries) {
  server::ServiceLimits limits;
  limits.response_cache.max_entries = response_cache_entries;
  return limits;
}

class WorkloadRunTest : public testing::Test {
 protected:
  WorkloadRun run_static(std::int32_t batch, std::size_t num_clients, int num_ranks = 1) {
    WorkloadRun result;
    test::with_cluster(config_without_reuse(), num_ranks, [&](engine::RankRuntime& runtime) {
      result = run_static_batches(runtime, {workload_, num_clients, {}}, batch).value();
    });
    return result;
  }

  WorkloadRun run_dynamic(const config::Config& config, std::size_t response_cache_entries, int num_ranks = 1) {
    WorkloadRun result;
    test::with_cluster(config, num_ranks, [&](engine::RankRuntime& runtime) {
      const ClosedLoop loop{workload_, static_cast<std::size_t>(kShape.num_clients), {}};
      result = run_dynamic_batches(runtime, loop, {}, limits_with(response_cache_entries)).value();
    });
    return result;
  }

  std::int64_t rows_of_requests() const {
    std::int64_t rows = 0;
    for (const WorkItem& item : workload_) rows += rows_of(item);
    return rows;
  }

  const Workload workload_ = make_workload(kShape, kVocabulary);
};

TEST_F(WorkloadRunTest, EveryWayOfAnsweringGivesTheSameTokens) {
  const WorkloadRun alone = run_static(1, 1);
  for (std::size_t i = 0; i < workload_.size(); ++i) {
    EXPECT_EQ(alone.outputs[i].size(), static_cast<std::size_t>(workload_[i].output_tokens)) << i;
    if (workload_[i].repeats) {
      EXPECT_EQ(alone.outputs[i], alone.outputs[*workload_[i].repeats]) << i;
    }
  }
  config::Config with_reuse = config_without_reuse();
  with_reuse.kv_cache.prefix_cache = true;
  EXPECT_EQ(run_static(5, 6).outputs, alone.outputs);
  EXPECT_EQ(run_static(4, 6, 2).outputs, alone.outputs);
  EXPECT_EQ(run_dynamic(config_without_reuse(), 0).outputs, alone.outputs);
  EXPECT_EQ(run_dynamic(with_reuse, 100).outputs, alone.outputs);
  EXPECT_EQ(run_dynamic(with_reuse, 100, 2).outputs, alone.outputs);
}

TEST_F(WorkloadRunTest, StaticBatchesComputeTheirPadding) {
  constexpr std::int32_t kBatch = 6;  // as many as there are clients: batches are runs of the workload
  const WorkloadRun run = run_static(kBatch, kBatch);
  std::int64_t padding = 0;
  for (std::size_t begin = 0; begin < workload_.size(); begin += kBatch) {
    std::vector<std::size_t> items;
    for (std::size_t i = begin; i < begin + kBatch; ++i) items.push_back(i);
    padding += pad(workload_, items).padding_rows;
  }
  EXPECT_GT(padding, 0);
  EXPECT_EQ(run.padding_rows, padding);
  EXPECT_EQ(run.computed_rows, rows_of_requests() + padding);
  EXPECT_DOUBLE_EQ(run.padding_share(), static_cast<double>(padding) / static_cast<double>(run.computed_rows));
}

TEST_F(WorkloadRunTest, AStaticBatchIsAnsweredAsAWhole) {
  const WorkloadRun run = run_static(6, 6);
  for (std::size_t begin = 0; begin < workload_.size(); begin += 6) {
    const auto first = run.latencies_s.begin() + static_cast<std::ptrdiff_t>(begin);
    EXPECT_EQ(std::set<double>(first, first + 6).size(), 1u) << begin;
    EXPECT_GT(*first, 0.0);
  }
}

TEST_F(WorkloadRunTest, DynamicBatchesComputeWhatRequestsNeed) {
  const WorkloadRun run = run_dynamic(config_without_reuse(), 0);
  EXPECT_EQ(run.computed_rows, rows_of_requests());
  EXPECT_EQ(run.padding_rows, 0);
  EXPECT_EQ(run.prefix_hit_tokens, 0);
  EXPECT_EQ(run.response_hits, 0);
}

TEST_F(WorkloadRunTest, ReuseComputesLess) {
  config::Config config = config_without_reuse();
  config.kv_cache.prefix_cache = true;
  const WorkloadRun run = run_dynamic(config, 100);
  EXPECT_GT(run.response_hits, 0);
  EXPECT_LT(run.computed_rows, rows_of_requests());
  EXPECT_GT(run.response_hit_rate(), 0.0);
  EXPECT_EQ(run.output_tokens(), run_dynamic(config_without_reuse(), 0).output_tokens());
}

TEST_F(WorkloadRunTest, RequestsThatCannotFitAreRefused) {
  config::Config config = config_without_reuse();
  config.model.max_context = longest_sequence(kShape) - 1;
  test::with_cluster(config, 1, [&](engine::RankRuntime& runtime) {
    EXPECT_FALSE(run_static_batches(runtime, {workload_, 4, {}}, 2).ok());
    EXPECT_FALSE(run_dynamic_batches(runtime, {workload_, 4, {}}, {}, limits_with(0)).ok());
    EXPECT_TRUE(runtime.engine().idle());
  });
}

TEST(WorkloadFiguresTest, QuantilesAreByNearestRank) {
  WorkloadRun run;
  run.latencies_s = {5.0, 1.0, 2.0, 4.0, 3.0};
  EXPECT_EQ(run.latency_quantile_s(0.99), 5.0);
  EXPECT_EQ(run.latency_quantile_s(0.5), 3.0);
  EXPECT_EQ(run.latency_quantile_s(0.4), 2.0);
  EXPECT_EQ(run.latency_quantile_s(0.0), 1.0);
  EXPECT_EQ(run.mean_latency_s(), 3.0);
}

TEST(WorkloadFiguresTest, SharesOfNothingAreZero) {
  WorkloadRun run;
  run.latencies_s = {1.0, 1.0};
  run.seconds = 2.0;
  run.outputs = {{1, 2, 3}, {4}};
  run.response_hits = 1;
  EXPECT_EQ(run.padding_share(), 0.0);
  EXPECT_EQ(run.prefix_hit_rate(), 0.0);
  EXPECT_EQ(run.response_hit_rate(), 0.5);
  EXPECT_EQ(run.tokens_per_s(), 2.0);
}

}  // namespace
}  // namespace trireme::launch
