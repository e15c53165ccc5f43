#include "runtime/kv_cache/kv_plan.h"

#include <gtest/gtest.h>

namespace trireme::kv_cache {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

KvPlanInput input() {
  KvPlanInput input;
  input.available_bytes = 1000 * kMiB;
  input.ranks_on_host = 2;
  input.reserve = 0.20;
  input.weight_bytes = 100 * kMiB;
  input.activation_bytes = 50 * kMiB;
  input.chunk_bytes = 16384;
  input.num_kv_heads = 4;
  input.block_tokens = 80;
  input.max_context = 8000;
  input.max_step_tokens = 512;
  input.groups = {{0, 10}};
  return input;
}

TEST(KvPlan, FollowsTheFormula) {
  const auto plan = make_kv_plan(input());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->pool_bytes, 1000 * kMiB / 2 * 8 / 10 - 150 * kMiB);
  EXPECT_EQ(plan->num_blocks, std::vector<std::int32_t>{static_cast<std::int32_t>(250 * kMiB / (10 * 4 * 16384))});
  EXPECT_EQ(plan->bytes_per_token(), 10 * 4 * 16384 / 80);
  EXPECT_NE(to_string(*plan).find("1000.0 MiB available / 2 ranks on this host * 0.80 - 100.0 MiB weights"),
            std::string::npos)
      << to_string(*plan);
}

TEST(KvPlan, DividesThePoolAsAMaximalSequenceNeedsIt) {
  KvPlanInput in = input();
  in.fixed_pool_bytes = 1000 * kMiB;
  in.groups = {{0, 2}, {1024, 10}};
  const auto plan = make_kv_plan(in);
  ASSERT_TRUE(plan.ok());
  const std::int32_t full = blocks_per_sequence(in, in.groups[0]), window = blocks_per_sequence(in, in.groups[1]);
  EXPECT_EQ(full, 100);
  EXPECT_EQ(window, (1024 + 512) / 80 + 2);
  EXPECT_NEAR(static_cast<double>(plan->num_blocks[0]) / plan->num_blocks[1], static_cast<double>(full) / window, 0.05);
  const std::int64_t used =
      (std::int64_t{plan->num_blocks[0]} * 2 + std::int64_t{plan->num_blocks[1]} * 10) * 4 * 16384;
  EXPECT_LE(used, in.fixed_pool_bytes);
  EXPECT_GT(used, in.fixed_pool_bytes * 99 / 100);
}

TEST(KvPlan, AGroupWithoutLayersOnAStageDoesNotLimitTheOthers) {
  KvPlanInput in = input();
  in.groups = {{0, 0}, {64, 10}};
  const auto plan = make_kv_plan(in);
  EXPECT_EQ(plan->num_blocks[0], kUnlimitedBlocks);
  EXPECT_EQ(common_num_blocks({plan->num_blocks, {7, 100000}}), (std::vector<std::int32_t>{7, plan->num_blocks[1]}));
}

TEST(KvPlan, RefusesWhenWeightsLeaveNothing) {
  KvPlanInput in = input();
  in.weight_bytes = 400 * kMiB;
  const auto plan = make_kv_plan(in);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, base::ErrorCode::kResourceExhausted);
  EXPECT_NE(plan.error().message.find("400.0 MiB weights"), std::string::npos);
}

}  // namespace
}  // namespace trireme::kv_cache
