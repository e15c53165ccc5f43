// That tokens are drawn with the probabilities that the parameters define: chi-square tests with fixed seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "runtime/sampling/sampler.h"
#include "tests/runtime/sampling/test_rows.h"

namespace trireme::sampling {
namespace {

constexpr int kNumDraws = 20000;

std::map<scheduler::TokenId, int> draw_counts(const std::vector<float>& logits, const scheduler::SamplingParams& params,
                                              std::uint32_t choice_index = 0) {
  std::map<scheduler::TokenId, int> counts;
  Sampler sampler;
  for (int position = 0; position < kNumDraws; ++position) {
    ++counts[sampler.sample({logits, 0.0f, &params, choice_index, position, {}, 0}).token];
  }
  return counts;
}

std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  std::vector<double> probabilities;
  double total = 0.0;
  for (const float logit : logits) probabilities.push_back(std::exp(static_cast<double>(logit) / temperature));
  for (const double p : probabilities) total += p;
  for (double& p : probabilities) p /= total;
  return probabilities;
}

// Tokens expected fewer than 5 times share one cell. The bound is 6 deviations above the mean.
void expect_fits(const std::map<scheduler::TokenId, int>& counts, const std::vector<double>& probabilities) {
  double chi_square = 0.0, rare_expected = 0.0, rare_seen = 0.0;
  int cells = 0;
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    const auto found = counts.find(static_cast<scheduler::TokenId>(id));
    const double seen = found == counts.end() ? 0 : found->second;
    const double expected = probabilities[id] * kNumDraws;
    if (expected == 0.0) {
      EXPECT_EQ(seen, 0.0) << "token " << id << " was filtered out";
    }
    if (expected < 5.0) {
      rare_expected += expected;
      rare_seen += seen;
      continue;
    }
    chi_square += (seen - expected) * (seen - expected) / expected;
    ++cells;
  }
  if (rare_expected >= 5.0) {
    chi_square += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
    ++cells;
  }
  EXPECT_LT(chi_square, cells + 6.0 * std::sqrt(2.0 * cells));
}

void renormalise(std::vector<double>& probabilities) {
  double total = 0.0;
  for (const double p : probabilities) total += p;
  for (double& p : probabilities) p /= total;
}

TEST(SamplerDistribution, FollowsTheSoftmaxAtSeveralTemperatures) {
  const std::vector<float> logits = random_logits(700, 21, 1.5f);
  for (const float temperature : {0.3f, 1.0f, 2.5f}) {
    scheduler::SamplingParams params;
    params.temperature = temperature;
    params.seed = 1234;
    expect_fits(draw_counts(logits, params), softmax(logits, temperature));
  }
}

TEST(SamplerDistribution, IsUniformAtAHugeTemperature) {
  scheduler::SamplingParams params;
  params.temperature = 1e30f;
  expect_fits(draw_counts(random_logits(300, 22), params), std::vector<double>(300, 1.0 / 300));
}

TEST(SamplerDistribution, RenormalisesOverWhatTheFiltersLeave) {
  const std::vector<float> logits = {2.0f, 0.5f, 1.0f, -1.0f, 1.5f, 0.0f};  // falling: 0 4 2 1 5 3
  scheduler::SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 4;
  std::vector<double> expected = softmax(logits, 1.0);
  expected[3] = expected[5] = 0.0;
  renormalise(expected);
  expect_fits(draw_counts(logits, params), expected);

  params.top_p = 0.8f;  // of the four: 0.436, 0.264, 0.160 reach it
  expected[1] = 0.0;
  renormalise(expected);
  expect_fits(draw_counts(logits, params), expected);

  params.min_p = 0.5f;  // exp(1 - 2) = 0.37 is too little
  expected[2] = 0.0;
  renormalise(expected);
  expect_fits(draw_counts(logits, params), expected);
}

TEST(SamplerDistribution, ChoicesAndSeedsAreIndependent) {
  const std::vector<float> logits(1000, 0.0f);
  scheduler::SamplingParams params, other;
  params.temperature = other.temperature = 1.0f;
  other.seed = 1;
  Sampler sampler;
  int same_choice = 0, same_seed = 0;
  for (int position = 0; position < kNumDraws; ++position) {
    const auto token = sampler.sample({logits, 0.0f, &params, 0, position, {}, 0}).token;
    same_choice += token == sampler.sample({logits, 0.0f, &params, 1, position, {}, 0}).token;
    same_seed += token == sampler.sample({logits, 0.0f, &other, 0, position, {}, 0}).token;
  }
  EXPECT_NEAR(same_choice, 20, 27);  // 6 deviations
  EXPECT_NEAR(same_seed, 20, 27);
}

}  // namespace
}  // namespace trireme::sampling
