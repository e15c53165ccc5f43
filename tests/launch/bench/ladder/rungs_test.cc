#include "launch/bench/ladder/rungs.h"

#include <gtest/gtest.h>

#include "runtime/kv_cache/chunk_layout.h"

namespace trireme::launch {
namespace {

using config::Weights;

model::ModelDescription some_model() {
  model::ModelDescription model;
  model.num_kv_heads = 3;
  model.head_dim = 64;
  model.layers.resize(30);
  return model;
}

LadderSetting setting_of(int num_ranks) {
  LadderSetting setting;
  setting.config.device.threads = 1;
  setting.workload = {.num_requests = 10, .num_clients = 4, .short_prompt = 6, .short_output = 4};
  setting.max_batch = 8;
  setting.threads_of_host = num_ranks;
  setting.num_ranks = num_ranks;
  return setting;
}

std::vector<Rung> rungs_of(const LadderSetting& setting) {
  return make_rungs(setting, FullLengthCache(some_model(), longest_sequence(setting.workload)));
}

TEST(RungsTest, EachAddsOneOptimisation) {
  const std::vector<Rung> rungs = rungs_of(setting_of(2));
  ASSERT_EQ(rungs.size(), 6u);
  const auto same_cache = [](const Rung& a, const Rung& b) {
    return a.config.kv_cache.key == b.config.kv_cache.key && a.config.kv_cache.value == b.config.kv_cache.value &&
           a.reserves_full_length == b.reserves_full_length;
  };
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    const Rung &before = rungs[i - 1], &rung = rungs[i];
    EXPECT_EQ(before.config.model.weights != rung.config.model.weights, rung.key == "weights");
    EXPECT_EQ(before.batching != rung.batching, rung.key == "batching");
    EXPECT_EQ(!same_cache(before, rung), rung.key == "cache");
    EXPECT_EQ(before.config.kv_cache.prefix_cache != rung.config.kv_cache.prefix_cache, rung.key == "reuse");
    EXPECT_EQ(before.config.server.response_cache_entries != rung.config.server.response_cache_entries,
              rung.key == "reuse");
    EXPECT_EQ(before.ranks != rung.ranks, rung.key == "ranks");
    EXPECT_EQ(rung.changes_numerics, rung.key == "weights" || rung.key == "cache");
  }
}

TEST(RungsTest, TheFirstHasNothing) {
  const Rung first = rungs_of(setting_of(1)).front();
  EXPECT_EQ(first.config.model.weights, Weights::kF32);
  EXPECT_EQ(first.config.kv_cache.key, base::DType::kF32);
  EXPECT_EQ(first.config.kv_cache.value, base::DType::kF32);
  EXPECT_TRUE(first.reserves_full_length);
  EXPECT_FALSE(first.config.kv_cache.prefix_cache);
  EXPECT_EQ(first.config.server.response_cache_entries, 0);
  EXPECT_EQ(first.batching, Batching::kStatic);
}

TEST(RungsTest, RanksAreARungOnlyWhereThereAreSeveral) {
  EXPECT_EQ(rungs_of(setting_of(1)).size(), 5u);
  const std::vector<Rung> rungs = rungs_of(setting_of(4));
  EXPECT_EQ(rungs.back().name, "+ 4 ranks");
  EXPECT_EQ(rungs.front().config.device.threads, 4);  // before, one rank has the cores of all
  EXPECT_EQ(rungs.back().config.device.threads, 1);
  EXPECT_EQ(rungs[4].config.kv_cache.memory_bytes, 4 * rungs[5].config.kv_cache.memory_bytes);  // each a quarter of it
}

TEST(RungsTest, WeightsAndCacheAreThoseThatTheUserAsksFor) {
  LadderSetting setting = setting_of(2);
  EXPECT_EQ(rungs_of(setting)[1].config.model.weights, Weights::kInt8);
  setting.config.model.weights = Weights::kQ8;
  setting.config.kv_cache.key = base::DType::kI8;
  setting.config.kv_cache.memory_bytes = 1 << 20;
  setting.config.pipeline.replicas = 2;
  const std::vector<Rung> rungs = rungs_of(setting);
  EXPECT_EQ(rungs[1].config.model.weights, Weights::kQ8);
  EXPECT_EQ(rungs[1].name, "+ q8 weights");
  EXPECT_EQ(rungs[3].config.kv_cache.key, base::DType::kI8);
  EXPECT_EQ(rungs[3].config.kv_cache.memory_bytes, 1 << 20);
  EXPECT_EQ(rungs[4].config.pipeline.replicas, 1);
  EXPECT_EQ(rungs[5].config.pipeline.replicas, 2);
  EXPECT_EQ(rungs[5].config.kv_cache.memory_bytes, 1 << 20);
}

TEST(FullLengthCacheTest, OneBlockHoldsASequence) {
  const FullLengthCache cache(some_model(), 241);
  config::Config config;
  cache.reserve(5, config);
  EXPECT_EQ(config.kv_cache.block_tokens, 244);
  EXPECT_EQ(config.scheduler.max_batch, 5);
  const std::int64_t token_bytes = 2 * 64 * 4;
  EXPECT_EQ(config.kv_cache.memory_bytes, 5 * 30 * 3 * 244 * token_bytes);
  const kv_cache::ChunkOptions options{config.kv_cache.chunk_bytes, config.kv_cache.block_tokens, base::DType::kF32,
                                       base::DType::kF32};
  EXPECT_TRUE(kv_cache::make_chunk_layout(options, 64).ok());
}

}  // namespace
}  // namespace trireme::launch
