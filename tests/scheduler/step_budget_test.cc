#include "scheduler/step_budget.h"

#include <gtest/gtest.h>

namespace trireme::scheduler {
namespace {

TEST(StepBudgetTest, WithoutContextCostATokenIsAToken) {
  StepBudget budget(10, 0.0);
  EXPECT_EQ(budget.tokens_that_fit(1000, 50), 10);
  budget.spend(1000, 7);
  EXPECT_EQ(budget.tokens_that_fit(0, 50), 3);
  EXPECT_EQ(budget.tokens_that_fit(0, 2), 2);
}

TEST(StepBudgetTest, CostIsTheSumOverPositions) {
  const StepBudget budget(100, 0.25);
  double sum = 0;
  for (int position = 12; position < 19; ++position) sum += 1 + 0.25 * position;
  EXPECT_DOUBLE_EQ(budget.cost(12, 7), sum);
}

TEST(StepBudgetTest, AChunkFarIntoAContextIsShorter) {
  const StepBudget budget(64, 0.01);
  EXPECT_EQ(budget.tokens_that_fit(0, 1000), 51);     // 51 + 0.01 * 1275 = 63.75
  EXPECT_EQ(budget.tokens_that_fit(300, 1000), 15);   // 60 + 0.01 * 105 = 61.05
  EXPECT_EQ(budget.tokens_that_fit(10000, 1000), 0);  // one token costs 101
}

}  // namespace
}  // namespace trireme::scheduler
