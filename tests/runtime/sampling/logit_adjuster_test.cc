#include "runtime/sampling/logit_adjuster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trireme::sampling {
namespace {

using Logits = std::vector<float>;
constexpr float kMasked = -std::numeric_limits<float>::infinity();

TEST(LogitAdjuster, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogitsOnce) {
  scheduler::SamplingParams params;
  params.repetition_penalty = 2.0f;
  Logits logits = {4.0f, -4.0f, 4.0f, -4.0f, 0.0f};
  LogitAdjuster().adjust(params, std::vector<scheduler::TokenId>{0, 1, 0, 0, 4}, 2, logits);
  EXPECT_EQ(logits, (Logits{2.0f, -8.0f, 4.0f, -4.0f, 0.0f}));
}

TEST(LogitAdjuster, PresenceAndFrequencyLookAtOutputOnly) {
  scheduler::SamplingParams params;
  params.presence_penalty = 1.0f;
  params.frequency_penalty = 0.25f;
  Logits logits = {0.0f, 0.0f, 0.0f, 0.0f};
  LogitAdjuster().adjust(params, std::vector<scheduler::TokenId>{0, 1, 1, 2, 2, 2}, 2, logits);
  EXPECT_EQ(logits, (Logits{0.0f, -1.25f, -1.75f, 0.0f}));
}

TEST(LogitAdjuster, AppliesBiasBeforePenalties) {
  scheduler::SamplingParams params;
  params.logit_bias = {{0, 6.0f}, {2, -100.0f}, {0, 1.0f}};
  params.repetition_penalty = 2.0f;
  params.presence_penalty = 0.5f;
  Logits logits = {-1.0f, 1.0f, 1.0f};
  LogitAdjuster().adjust(params, std::vector<scheduler::TokenId>{0}, 0, logits);
  EXPECT_EQ(logits, (Logits{2.5f, 1.0f, -99.0f}));
}

TEST(LogitAdjuster, ForgetsTheLastCall) {
  scheduler::SamplingParams params;
  params.frequency_penalty = 1.0f;
  LogitAdjuster adjuster;
  Logits first(10), second(10), smaller(2);
  adjuster.adjust(params, std::vector<scheduler::TokenId>{3, 3, 9}, 0, first);
  adjuster.adjust(params, std::vector<scheduler::TokenId>{3}, 0, second);
  adjuster.adjust(params, std::vector<scheduler::TokenId>{1, 9}, 0, smaller);
  EXPECT_EQ(first[3], -2.0f);
  EXPECT_EQ(second[3], -1.0f);
  EXPECT_EQ(second[9], 0.0f);
  EXPECT_EQ(smaller, (Logits{0.0f, -1.0f}));
}

TEST(LogitAdjuster, PassesOverTokensOutsideTheVocabularyAndMasks) {
  scheduler::SamplingParams params;
  params.logit_bias = {{-1, 5.0f}, {2, 5.0f}, {1, 5.0f}};
  params.repetition_penalty = 1.5f;
  Logits logits = {1.0f, kMasked};
  LogitAdjuster().adjust(params, std::vector<scheduler::TokenId>{-7, 1, 2'000'000'000}, 0, logits);
  EXPECT_EQ(logits, (Logits{1.0f, kMasked}));
}

TEST(LogitAdjuster, SaturatesInsteadOfOverflowing) {
  scheduler::SamplingParams params;
  params.logit_bias = {{0, 3e38f}, {1, std::numeric_limits<float>::infinity()}};
  params.repetition_penalty = 1e-45f;
  Logits logits = {3e38f, kMasked, 1.0f};
  LogitAdjuster().adjust(params, std::vector<scheduler::TokenId>{2}, 0, logits);
  for (const float logit : logits) EXPECT_FALSE(std::isnan(logit) || logit == -kMasked) << logit;
}

}  // namespace
}  // namespace trireme::sampling
