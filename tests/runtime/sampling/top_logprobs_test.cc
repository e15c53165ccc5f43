#include <gtest/gtest.h>

#include "runtime/sampling/sampler.h"

namespace trireme::sampling {
namespace {

using Top = std::vector<scheduler::TokenLogprob>;

TEST(TopLogprobs, OrdersByLikelihoodThenId) {
  const std::vector<float> logits = {1.0f, 3.0f, 2.0f, 3.0f};
  EXPECT_EQ(top_logprobs(logits, 4.0f, 3), (Top{{1, -1.0f}, {3, -1.0f}, {2, -2.0f}}));
}

TEST(TopLogprobs, GivesAtMostTheVocabulary) {
  const std::vector<float> logits = {1.0f, 3.0f};
  EXPECT_EQ(top_logprobs(logits, 0.0f, 20), (Top{{1, 3.0f}, {0, 1.0f}}));
  EXPECT_TRUE(top_logprobs(logits, 0.0f, 0).empty());
  EXPECT_TRUE(top_logprobs(logits, 0.0f, -1).empty());
}

}  // namespace
}  // namespace trireme::sampling
