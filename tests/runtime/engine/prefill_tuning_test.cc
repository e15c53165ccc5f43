#include "runtime/engine/prefill_tuning.h"

#include <vector>

#include <gtest/gtest.h>

namespace trireme::engine {
namespace {

// Times of chunks of 128, 256, … tokens at these rates, in tokens per second.
ChunkTimes times_of(const std::vector<double>& rates) {
  ChunkTimes times;
  for (std::size_t i = 0; i < rates.size(); ++i) times.seconds[i] = candidate_chunk(i) / rates[i];
  return times;
}

std::int32_t chosen(const std::vector<ChunkTimes>& ranks, std::int32_t max_tokens = 512) {
  return choose_chunk(ranks, max_tokens).chunk;
}

TEST(PrefillTuningTest, TheShortestChunkOfNearlyTheBestRateIsChosen) {
  EXPECT_EQ(chosen({times_of({700, 985, 1000, 990})}, 1024), 256);
  EXPECT_EQ(chosen({times_of({1000, 1000, 1000})}), 128);
  EXPECT_EQ(chosen({times_of({700, 900, 1000})}), 512);
}

TEST(PrefillTuningTest, TheSlowestRankSetsThePace) {
  EXPECT_EQ(chosen({times_of({1000, 1000, 1000}), times_of({100, 200, 203})}), 256);
}

TEST(PrefillTuningTest, WithoutMeasurementsTheBudgetDecides) {
  EXPECT_EQ(chosen({ChunkTimes{}}, 7), 7);
  EXPECT_EQ(chosen({times_of({500, 600}), ChunkTimes{}}), 512);
  EXPECT_EQ(chosen({}), 512);
}

TEST(PrefillTuningTest, ARateThatStillRoseWhenTimeWasOverLeavesTheWholeBudget) {
  EXPECT_EQ(chosen({times_of({500, 700})}), 512);
  EXPECT_EQ(chosen({times_of({700, 705})}), 128);
}

TEST(PrefillTuningTest, TheTextTellsWhatWasMeasured) {
  const std::vector<ChunkTimes> ranks = {times_of({700, 1000})};
  EXPECT_EQ(choose_chunk(ranks, 256).text,
            "256 tokens (layers alone, tokens/s: 128 at a time 700, 256 at a time 1000)");
}

}  // namespace
}  // namespace trireme::engine
