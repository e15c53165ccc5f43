#include "launch/bench/ladder/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "launch/bench/ladder/padded_batch.h"

namespace trireme::launch {
namespace {

constexpr std::int32_t kVocabulary = 100;
constexpr WorkloadShape kShape{.num_requests = 150, .num_clients = 4, .short_prompt = 6, .short_output = 3};

bool is_long(const WorkItem& item) {
  return item.prompt.size() == std::size_t{kLongFactor} * kShape.short_prompt;
}

TEST(WorkloadTest, HasFourShortRequestsToOneFiveTimesAsLong) {
  const Workload workload = make_workload(kShape, kVocabulary);
  ASSERT_EQ(workload.size(), 150u);
  EXPECT_EQ(std::ranges::count_if(workload, is_long), 30);
  for (std::size_t begin = 0; begin < workload.size(); begin += kLongPeriod) {
    EXPECT_EQ(std::count_if(workload.begin() + begin, workload.begin() + begin + kLongPeriod, is_long), 1) << begin;
  }
  for (const WorkItem& item : workload) {
    EXPECT_EQ(item.prompt.size(), is_long(item) ? 30u : 6u);
    EXPECT_EQ(item.output_tokens, is_long(item) ? 15 : 3);
    EXPECT_TRUE(std::ranges::all_of(item.prompt, [](auto token) { return token >= 0 && token < kVocabulary; }));
  }
  EXPECT_EQ(longest_sequence(kShape), 45);
  EXPECT_EQ(average_sequence(kShape), (4 * 9 + 45) / 5);
}

TEST(WorkloadTest, AThirdOfTheRequestsRepeatEarlierOnesOfTheirLength) {
  const Workload workload = make_workload(kShape, kVocabulary);
  std::int64_t num_repeats = 0;
  std::set<std::vector<scheduler::TokenId>> originals;
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const WorkItem& item = workload[i];
    if (!item.repeats) {
      EXPECT_TRUE(originals.insert(item.prompt).second) << i;
      continue;
    }
    ++num_repeats;
    ASSERT_LT(*item.repeats, i);
    EXPECT_FALSE(workload[*item.repeats].repeats.has_value());
    EXPECT_EQ(item.prompt, workload[*item.repeats].prompt);
    EXPECT_EQ(item.output_tokens, workload[*item.repeats].output_tokens);
  }
  EXPECT_EQ(num_repeats, 50);
}

TEST(WorkloadTest, DependsOnTheSeedAlone) {
  const auto prompts = [](std::uint64_t seed) {
    WorkloadShape shape = kShape;
    shape.seed = seed;
    std::vector<std::vector<scheduler::TokenId>> result;
    for (const WorkItem& item : make_workload(shape, kVocabulary)) result.push_back(item.prompt);
    return result;
  };
  EXPECT_EQ(prompts(1), prompts(1));
  EXPECT_NE(prompts(1), prompts(2));
}

WorkItem item_of(std::size_t prompt_tokens, std::int32_t output_tokens) {
  WorkItem item;
  item.prompt.assign(prompt_tokens, 0);
  item.output_tokens = output_tokens;
  return item;
}

TEST(PaddedBatchTest, EveryRowIsAsLongAsTheLongestPromptAndTheLongestOutput) {
  const Workload workload = {item_of(4, 10), item_of(20, 2), item_of(5, 5)};
  const PaddedBatch batch = pad(workload, {0, 1});
  EXPECT_EQ(batch.prompt_tokens, 20);
  EXPECT_EQ(batch.output_tokens, 10);
  // Two rows of 20 + 10 - 1 tokens, of which 4 + 10 - 1 and 20 + 2 - 1 belong to the requests.
  EXPECT_EQ(batch.padding_rows, 2 * 29 - 13 - 21);
}

TEST(PaddedBatchTest, EqualRequestsNeedNoPadding) {
  const Workload workload = {item_of(4, 10), item_of(4, 10)};
  EXPECT_EQ(pad(workload, {0, 1}).padding_rows, 0);
  EXPECT_EQ(pad(workload, {1}).padding_rows, 0);
}

}  // namespace
}  // namespace trireme::launch
