#include "runtime/sampling/sampler.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/sampling/test_rows.h"

namespace trireme::sampling {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

scheduler::SampledToken sample(const std::vector<float>& logits, const scheduler::SamplingParams& params,
                               std::int64_t position = 0) {
  SampleArgs args;
  args.logits = logits;
  args.log_sum_exp = 10.0f;
  args.params = &params;
  args.position = position;
  return Sampler().sample(args);
}

TEST(Sampler, GreedyTakesTheLowestIdAmongEquals) {
  EXPECT_EQ(sample({1.0f, 7.0f, 7.0f, 2.0f}, {}).token, 1);
}

TEST(Sampler, ReportsTheModelsOwnLogprobsWhateverTheAdjustments) {
  scheduler::SamplingParams params;
  params.logit_bias = {{2, 100.0f}};
  params.temperature = 0.7f;
  params.num_logprobs = 2;
  const scheduler::SampledToken result = sample({1.0f, 7.0f, 4.0f}, params);
  EXPECT_EQ(result.token, 2);
  EXPECT_EQ(result.logprob, -6.0f);
  EXPECT_EQ(result.top, (std::vector<scheduler::TokenLogprob>{{1, -3.0f}, {2, -6.0f}}));
}

TEST(Sampler, ReportsTheSampledTokenAloneWhereNoAlternativesAreWanted) {
  scheduler::SamplingParams params;
  params.num_logprobs = 0;
  EXPECT_EQ(sample({1.0f, 7.0f}, params).logprob, -3.0f);
  EXPECT_TRUE(sample({1.0f, 7.0f}, params).top.empty());
}

TEST(Sampler, GreedyHeedsPenalties) {
  scheduler::SamplingParams params;
  params.frequency_penalty = 1.0f;
  const std::vector<float> logits = {3.0f, 2.5f, 0.0f};
  const std::vector<scheduler::TokenId> history = {0, 0, 0};
  SampleArgs args{logits, 0.0f, &params, 0, 3, history, 3};
  EXPECT_EQ(Sampler().sample(args).token, 0);  // all of it is prompt
  args.prompt_length = 1;
  EXPECT_EQ(Sampler().sample(args).token, 1);
}

TEST(Sampler, CallsRowsWithoutAnyTokenNonFinite) {
  scheduler::SamplingParams sampled;
  sampled.temperature = 1.0f;
  scheduler::SamplingParams forbidden = sampled;
  forbidden.logit_bias = {{0, -kInfinity}};
  for (const auto& params : {scheduler::SamplingParams{}, sampled}) {
    EXPECT_TRUE(sample({1.0f, std::numeric_limits<float>::quiet_NaN()}, params).non_finite);
    EXPECT_TRUE(sample({1.0f, kInfinity}, params).non_finite);
    EXPECT_TRUE(sample({-kInfinity, -kInfinity}, params).non_finite);
    EXPECT_FALSE(sample({-kInfinity, 1.0f}, params).non_finite);
  }
  EXPECT_TRUE(sample({1.0f, -kInfinity}, forbidden).non_finite);
}

TEST(Sampler, NeverDrawsAMaskedToken) {
  scheduler::SamplingParams params;
  params.temperature = 1e30f;
  for (int position = 0; position < 200; ++position) {
    EXPECT_EQ(sample({-kInfinity, 1.0f, -kInfinity}, params, position).token, 1);
  }
}

TEST(Sampler, TinyTemperatureIsGreedy) {
  scheduler::SamplingParams params;
  params.temperature = 1e-12f;
  const std::vector<float> logits = random_logits(5000, 11);
  for (int position = 0; position < 50; ++position) {
    EXPECT_EQ(sample(logits, params, position).token, sample(logits, {}).token);
  }
}

TEST(Sampler, DrawsTheSameWithUsedAndWithFreshScratchMemory) {
  scheduler::SamplingParams params;
  params.temperature = 0.9f;
  params.top_p = 0.9f;
  params.repetition_penalty = 1.2f;
  Sampler used;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::vector<float> logits = random_logits(100 + 300 * (i % 7), i);
    const std::vector<scheduler::TokenId> history = {static_cast<std::int32_t>(i), 5, 99};
    params.top_k = i % 3 == 0 ? 30 : 0;
    const SampleArgs args{logits, 0.0f, &params, i % 4, i, history, 1};
    EXPECT_EQ(used.sample(args), Sampler().sample(args)) << i;
  }
}

}  // namespace
}  // namespace trireme::sampling
