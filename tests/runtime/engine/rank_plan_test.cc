#include "runtime/engine/rank_plan.h"

#include <gtest/gtest.h>

namespace trireme::engine {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

model::ModelDescription small_model(int num_layers) {
  model::ModelDescription model;
  model.vocab_size = 1000;
  model.hidden_size = 64;
  model.intermediate_size = 128;
  model.num_heads = 4;
  model.num_kv_heads = 2;
  model.head_dim = 16;
  model.max_positions = 4096;
  model.ropes.resize(1);
  model.layers.resize(static_cast<std::size_t>(num_layers));
  return model;
}

// With the weights in f16, from no checkpoint.
base::Result<RankPlan> plan_f16(const config::Config& config, const model::ModelDescription& model,
                                const std::vector<RankFacts>& ranks) {
  const model::WeightPlan weights =
      model::plan_weights(model, [](const model::MatrixSource&) { return kernels::WeightFormat::kF16; });
  return make_rank_plan(config, {model, weights}, ranks);
}

std::vector<RankFacts> ranks(int count, std::int64_t available_bytes = 1000 * kMiB) {
  return std::vector<RankFacts>(static_cast<std::size_t>(count), RankFacts{available_bytes, count, 0b1101, 42});
}

TEST(RankPlan, EveryLayerIsOnExactlyOneStage) {
  for (int num_ranks = 1; num_ranks <= 7; ++num_ranks) {
    const auto plan = plan_f16({}, small_model(7), ranks(num_ranks));
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    int next = 0;
    for (int rank = 0; rank < num_ranks; ++rank) {
      const model::StageSpec stage = plan->stage_spec(rank);
      EXPECT_EQ(stage.begin_layer, next);
      EXPECT_EQ(stage.first, rank == 0);
      EXPECT_EQ(stage.last, rank == num_ranks - 1);
      next = stage.end_layer;
    }
    EXPECT_EQ(next, 7);
  }
}

TEST(RankPlan, RefusesMoreStagesThanLayers) {
  const auto plan = plan_f16({}, small_model(3), ranks(4));
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find('4'), std::string::npos) << plan.error().message;
}

TEST(RankPlan, NamesRanksThatSeeAnotherModel) {
  auto facts = ranks(3);
  facts[2].model_fingerprint = 43;
  const auto plan = plan_f16({}, small_model(4), facts);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("ranks 0 and 2"), std::string::npos) << plan.error().message;
}

TEST(RankPlan, TheSmallestStageSetsTheBlocksOfItsReplica) {
  config::Config config;
  config.pipeline.replicas = 2;
  auto facts = ranks(4);
  facts[3].available_bytes = 200 * kMiB;
  const auto plan = plan_f16(config, small_model(4), facts);
  ASSERT_TRUE(plan.ok());
  EXPECT_GT(plan->num_blocks[0][0], plan->num_blocks[1][0]);
  EXPECT_EQ(plan->num_blocks[1], plan->kv[3].num_blocks);
}

TEST(RankPlan, TakesTheCommonInstructionSets) {
  auto facts = ranks(2);
  facts[1].instruction_sets = 0b0111;
  EXPECT_EQ(plan_f16({}, small_model(4), facts)->instruction_sets, 0b0101u);
}

TEST(RankPlan, LowersTheContextToWhatThePoolHoldsUnlessTheUserChoseIt) {
  config::Config config;
  config.kv_cache.memory_bytes = 4 * 2 * 16384 * 3;  // three blocks of every layer
  const auto plan = plan_f16(config, small_model(4), ranks(1));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->max_context, 3 * plan->chunk.block_tokens);
  config.model.max_context = 4000;
  EXPECT_FALSE(plan_f16(config, small_model(4), ranks(1)).ok());
  config.model.max_context = 100;
  EXPECT_EQ(plan_f16(config, small_model(4), ranks(1))->max_context, 100);
}

TEST(RankPlan, RefusesAPoolWithoutABlock) {
  config::Config config;
  config.kv_cache.memory_bytes = 16384;
  const auto plan = plan_f16(config, small_model(4), ranks(1));
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("--kv-memory"), std::string::npos);
}

TEST(RankPlan, WarnsOfAPoolThatTheHostCannotHold) {
  config::Config config;
  config.kv_cache.memory_bytes = 600 * kMiB;
  const auto plan = plan_f16(config, small_model(4), ranks(2));
  ASSERT_TRUE(plan.ok());
  EXPECT_NE(plan->notes.front().find("rank 0 may need 60"), std::string::npos) << plan->notes.front();
  config.kv_cache.memory_bytes = 400 * kMiB;
  EXPECT_EQ(plan_f16(config, small_model(4), ranks(2))->notes.front().find("warning"), std::string::npos);
}

TEST(RankPlan, AutomaticReplicasAreAsManyAsMemoryAllows) {
  config::Config config;
  config.pipeline.replicas = 0;
  model::ModelDescription model = small_model(4);
  EXPECT_EQ(plan_f16(config, model, ranks(4))->layout.num_replicas(), 4);
  // A layer of about 270 MiB in f16: a rank's share of 800 MiB holds two, not four.
  model.hidden_size = 4096;
  model.intermediate_size = 11264;
  const auto plan = plan_f16(config, model, ranks(4, 4000 * kMiB));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->layout.num_replicas(), 2);
}

TEST(RankPlan, PlansInFlightFollowTheStages) {
  config::Config config;
  const auto model = small_model(4);
  auto plan = plan_f16(config, model, ranks(2));
  EXPECT_EQ(plan->scheduler_config(config, model, 0).max_plans_in_flight, 2);
  config.pipeline.plans_in_flight = 9;
  EXPECT_EQ(plan->scheduler_config(config, model, 0).max_plans_in_flight, 4);
}

}  // namespace
}  // namespace trireme::engine
