#include "parallel/pipeline_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace trireme::parallel {
namespace {

std::vector<LayerRange> stages_of(const PipelineLayout& layout) {
  std::vector<LayerRange> stages;
  for (int stage = 0; stage < layout.num_stages(); ++stage) stages.push_back(layout.layers(stage));
  return stages;
}

double worst_stage(const std::vector<LayerRange>& stages, const LayerCosts& costs) {
  double worst = 0.0;
  for (const LayerRange& stage : stages) {
    double cost = stage.begin == 0 ? costs.embedding : 0.0;
    for (int layer = stage.begin; layer < stage.end; ++layer) cost += costs.layers[static_cast<std::size_t>(layer)];
    if (stage.end == static_cast<int>(costs.layers.size())) cost += costs.head;
    worst = std::max(worst, cost);
  }
  return worst;
}

// The least cost of the worst stage, by trying every split.
double best_by_exhaustion(int num_stages, const LayerCosts& costs) {
  const int num_layers = static_cast<int>(costs.layers.size());
  double best = 1e300;
  std::vector<LayerRange> stages;
  const std::function<void(int)> extend = [&](int begin) {
    if (static_cast<int>(stages.size()) + 1 == num_stages) {
      stages.push_back({begin, num_layers});
      best = std::min(best, worst_stage(stages, costs));
      stages.pop_back();
      return;
    }
    for (int end = begin + 1; end < num_layers; ++end) {
      stages.push_back({begin, end});
      extend(end);
      stages.pop_back();
    }
  };
  extend(0);
  return best;
}

TEST(PipelineLayout, HoldsEveryLayerOnceAndReachesTheBestSplitOfRandomCosts) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const int num_layers = std::uniform_int_distribution(1, 11)(random);
    const int num_stages = std::uniform_int_distribution(1, std::min(num_layers, 5))(random);
    LayerCosts costs;
    // Small integers bring ties; their sums are exact.
    std::uniform_int_distribution cost(0, 6);
    for (int layer = 0; layer < num_layers; ++layer) costs.layers.push_back(cost(random));
    costs.embedding = cost(random);
    costs.head = 2.0 * cost(random);

    const auto layout = PipelineLayout::balanced(num_stages, 1, costs);
    ASSERT_TRUE(layout.ok());
    const auto stages = stages_of(*layout);
    int end = 0;
    for (const LayerRange& stage : stages) {
      EXPECT_EQ(stage.begin, end);
      EXPECT_GT(stage.size(), 0);
      end = stage.end;
    }
    EXPECT_EQ(end, num_layers);
    EXPECT_EQ(worst_stage(stages, costs), best_by_exhaustion(num_stages, costs)) << "trial " << trial;
  }
}

TEST(PipelineLayout, EqualLayersAreSpreadEvenly) {
  const auto layout = PipelineLayout::balanced(3, 1, {std::vector<double>(7, 1.0), 0.0, 0.0});
  ASSERT_TRUE(layout.ok());
  std::vector<int> sizes;
  for (const LayerRange& stage : stages_of(*layout)) sizes.push_back(stage.size());
  std::sort(sizes.begin(), sizes.end());
  EXPECT_THAT(sizes, testing::ElementsAre(2, 2, 3));
}

TEST(PipelineLayout, ExpensiveHeadTakesLayersFromTheLastStage) {
  const auto layout = PipelineLayout::balanced(2, 1, {std::vector<double>(10, 1.0), 0.0, 4.0});
  ASSERT_TRUE(layout.ok());
  EXPECT_THAT(stages_of(*layout), testing::ElementsAre(LayerRange{0, 7}, LayerRange{7, 10}));
}

TEST(PipelineLayout, NumbersRanksByReplicaThenStage) {
  const auto layout = PipelineLayout::balanced(6, 2, {std::vector<double>(6, 1.0), 0.0, 0.0});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->num_ranks(), 6);
  EXPECT_EQ(layout->num_stages(), 3);
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(layout->rank_of(layout->replica_of(rank), layout->stage_of(rank)), rank);
  }
  EXPECT_EQ(layout->replica_of(3), 1);
  EXPECT_EQ(layout->stage_of(4), 1);
}

TEST(PipelineLayout, TakesASplitAsTold) {
  const auto layout = PipelineLayout::with_split(3, 1, 30, std::vector{10, 20});
  ASSERT_TRUE(layout.ok());
  EXPECT_THAT(stages_of(*layout), testing::ElementsAre(LayerRange{0, 10}, LayerRange{10, 20}, LayerRange{20, 30}));
}

TEST(PipelineLayout, RefusesWhatCannotBeLaidOut) {
  const LayerCosts two{{1.0, 1.0}, 0.0, 0.0};
  EXPECT_FALSE(PipelineLayout::balanced(3, 1, two).ok());
  EXPECT_FALSE(PipelineLayout::balanced(3, 2, two).ok());
  EXPECT_FALSE(PipelineLayout::balanced(0, 1, two).ok());
  EXPECT_FALSE(PipelineLayout::balanced(1, 0, two).ok());
  EXPECT_FALSE(PipelineLayout::balanced(2, 1, {{1.0, -1.0}, 0.0, 0.0}).ok());
  EXPECT_FALSE(PipelineLayout::balanced(2, 1, {{1.0, std::nan("")}, 0.0, 0.0}).ok());
  for (const std::vector<int>& split : {std::vector<int>{}, {0}, {30}, {31}, {-1}, {10, 20}}) {
    const auto layout = PipelineLayout::with_split(2, 1, 30, split);
    ASSERT_FALSE(layout.ok());
    EXPECT_FALSE(layout.error().message.empty());
  }
  EXPECT_FALSE(PipelineLayout::with_split(3, 1, 30, std::vector{20, 10}).ok());
}

}  // namespace
}  // namespace trireme::parallel
