// The same request gives the same bits alone, in a mixed batch, with any chunk, after preemption, on a prefix hit, with
// any number of threads, stages and replicas. With the default cache formats, whose rounding would show every
// difference.
#include <gtest/gtest.h>

#include <string>

#include "runtime/model/architecture.h"
#include "tests/support/cluster.h"
#include "tests/support/fingerprint.h"
#include "tests/support/golden.h"

namespace trireme::engine {
namespace {

struct Variant {
  std::string model;
  config::Weights weights;
  std::string name;
};

class EngineInvarianceTest : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    config_ = test::default_config(test::golden_model(GetParam().model));
    config_.model.weights = GetParam().weights;
    // One at a time, so that nothing is shared.
    config_.kv_cache.prefix_cache = false;
    test::with_cluster(config_, 1, [&](RankRuntime& runtime) {
      for (const auto& request : requests_) alone_.push_back(test::fingerprints(test::generate(runtime, {request}))[0]);
    });
    config_.kv_cache.prefix_cache = true;
  }
  void expect_same(const config::Config& config, int num_ranks, const std::string& what) {
    test::with_cluster(config, num_ranks, [&](RankRuntime& runtime) {
      const auto together = test::fingerprints(test::generate(runtime, requests_));
      for (std::size_t i = 0; i < together.size(); ++i) EXPECT_EQ(together[i], alone_[i]) << what << ", request " << i;
    });
  }
  std::int64_t num_kv_heads() const {
    const auto checkpoint = checkpoint::Checkpoint::open(config_.model.path).value();
    return model::describe_model(*checkpoint)->num_kv_heads;
  }
  const std::vector<scheduler::Request> requests_ = test::mixed_requests();
  config::Config config_;
  std::vector<std::string> alone_;
};

TEST_P(EngineInvarianceTest, BatchChangesNoBit) {
  expect_same(config_, 1, "batch of 32");
}

TEST_P(EngineInvarianceTest, ChunkChangesNoBit) {
  for (const std::int32_t tokens : {1, 7, 33, 100}) {
    config_.scheduler.max_step_tokens = tokens;
    expect_same(config_, 1, "steps of " + std::to_string(tokens));
  }
}

TEST_P(EngineInvarianceTest, ThreadsChangeNoBit) {
  config_.device.threads = 2;
  expect_same(config_, 1, "2 threads");
}

TEST_P(EngineInvarianceTest, StagesAndReplicasChangeNoBit) {
  for (const int stages : {2, 3, 4}) expect_same(config_, stages, std::to_string(stages) + " stages");
  for (const int replicas : {2, 3}) {
    config_.pipeline.replicas = replicas;
    expect_same(config_, replicas, std::to_string(replicas) + " replicas");
  }
  config_.pipeline.replicas = 2;
  expect_same(config_, 4, "2 replicas of 2 stages");
}

TEST_P(EngineInvarianceTest, PreemptionChangesNoBit) {
  // Room for two or three of the longest sequences.
  config_.model.max_context = 160;
  config_.scheduler.max_batch = 32;
  config_.kv_cache.chunk_bytes = 2048;
  config_.kv_cache.memory_bytes = std::int64_t{36} * 4 * num_kv_heads() * 2048;
  for (const int ranks : {1, 2}) {
    test::with_cluster(config_, ranks, [&](RankRuntime& runtime) {
      const auto together = test::fingerprints(test::generate(runtime, requests_));
      for (std::size_t i = 0; i < together.size(); ++i) EXPECT_EQ(together[i], alone_[i]) << "request " << i;
      const scheduler::SchedulerStats stats = runtime.engine().stats()[0];
      // Windows free their blocks as they pass.
      const auto windows = runtime.description().window_groups();
      EXPECT_TRUE(stats.num_preemptions > 0 || windows.back() > 0);
      EXPECT_EQ(stats.free_blocks, stats.total_blocks);
    });
  }
}

TEST_P(EngineInvarianceTest, PrefixHitsChangeNoBit) {
  for (const int ranks : {1, 2}) {
    test::with_cluster(config_, ranks, [&](RankRuntime& runtime) {
      for (int round = 0; round < 2; ++round) {
        const auto together = test::fingerprints(test::generate(runtime, requests_));
        for (std::size_t i = 0; i < together.size(); ++i) EXPECT_EQ(together[i], alone_[i]) << "request " << i;
      }
      EXPECT_GT(runtime.engine().stats()[0].prefix_hit_tokens, 0);
    });
  }
}

std::vector<Variant> variants() {
  std::vector<Variant> result;
  for (const std::string& model : test::engine_decoders()) {
    result.push_back({model, config::Weights::kF16, test::parameter_name(model) + "_f16"});
  }
  result.push_back({"llama", config::Weights::kInt8, "llama_int8"});
  result.push_back({"gemma3", config::Weights::kQ8, "gemma3_q8"});
  if (test::is_sanitized()) return result;
  result.push_back({"mixtral", config::Weights::kInt8, "mixtral_int8"});
  result.push_back({"llama", config::Weights::kQ4, "llama_q4"});
  return result;
}

INSTANTIATE_TEST_SUITE_P(Models, EngineInvarianceTest, testing::ValuesIn(variants()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace trireme::engine
