#include "runtime/calibration/next_token_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/runtime/calibration/small_model.h"
#include "tests/support/golden.h"

namespace trireme::calibration {
namespace {

TEST(LogSoftmax, SumsToOneWhateverTheScale) {
  std::vector<float> row = {1000.0f, 1001.0f, 999.0f};
  log_softmax(row);
  double sum = 0.0;
  for (const float value : row) sum += std::exp(value);
  EXPECT_NEAR(sum, 1.0, 1e-6);
  EXPECT_NEAR(row[1] - row[0], 1.0, 1e-4);
}

TEST(Divergence, IsZeroOfEqualRowsAndElsePositive) {
  std::vector<float> p = {0.5f, 1.5f, -2.0f}, q = {0.6f, 1.3f, -2.0f};
  log_softmax(p);
  log_softmax(q);
  EXPECT_EQ(divergence(p, p), 0.0);
  double expected = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) expected += std::exp(double{p[i]}) * (double{p[i]} - q[i]);
  EXPECT_GT(expected, 0.0);
  EXPECT_NEAR(divergence(p, q), expected, 1e-6);
}

class NextTokenLossTest : public testing::TestWithParam<std::string> {};

TEST_P(NextTokenLossTest, IsThatOfTheReference) {
  test::SmallModel small(GetParam());
  for (const test::GoldenCase& golden : test::golden_cases(GetParam())) {
    if (golden.prompt_ids.size() < 2) continue;
    const auto model = small.load(small.f32, static_cast<std::int32_t>(golden.prompt_ids.size()));
    const TextLoss loss = next_token_loss(*model, std::vector<Tokens>{golden.prompt_ids});
    const double expected = -std::accumulate(golden.prompt_logprobs.begin(), golden.prompt_logprobs.end(), 0.0);
    ASSERT_EQ(static_cast<std::size_t>(loss.num_tokens), golden.prompt_logprobs.size());
    EXPECT_NEAR(loss.sum, expected, 1e-3 * (1.0 + expected));
    EXPECT_NEAR(loss.perplexity(), std::exp(expected / static_cast<double>(loss.num_tokens)), 0.01 * loss.perplexity());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NextTokenLossTest, testing::Values("llama", "gemma3", "gpt2", "mixtral"),
                         [](const auto& model) { return test::parameter_name(model.param); });

}  // namespace
}  // namespace trireme::calibration
