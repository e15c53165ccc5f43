#include "runtime/sampling/softmax_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace trireme::sampling {
namespace {

TEST(SoftmaxWeights, StayWithinTheStatedErrorOfTheExponential) {
  std::vector<float> logits;
  for (float x = 0.0f; x > -87.0f; x -= 0.0137f) logits.push_back(x);
  std::vector<float> weights(logits.size());
  softmax_weights(logits, 0.0f, 1.0f, weights);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double expected = std::exp(static_cast<double>(logits[i]));
    EXPECT_NEAR(weights[i], expected, 4e-7 * expected) << logits[i];
  }
}

TEST(SoftmaxWeights, AreOneAtTheMaximumAndZeroForMaskedTokens) {
  const std::vector<float> logits = {5.0f, -std::numeric_limits<float>::infinity(), -200.0f, 4.0f,
                                     -std::numeric_limits<float>::max()};
  std::vector<float> weights(logits.size());
  for (const float temperature : {1e-45f, 1e-12f, 1.0f, 1e30f, std::numeric_limits<float>::max()}) {
    softmax_weights(logits, 5.0f, temperature, weights);
    EXPECT_EQ(weights[0], 1.0f) << temperature;
    EXPECT_EQ(weights[1], 0.0f) << temperature;
    EXPECT_EQ(weights[3], temperature < 1e-3f ? 0.0f : weights[3]) << temperature;
    for (const float weight : weights) EXPECT_TRUE(weight >= 0.0f && weight <= 1.0f) << temperature;
  }
}

TEST(SoftmaxWeights, AreFlatAtAVeryHighTemperature) {
  const std::vector<float> logits = {30.0f, -30.0f, 0.0f};
  std::vector<float> weights(logits.size());
  softmax_weights(logits, 30.0f, 1e30f, weights);
  EXPECT_EQ(weights, (std::vector<float>{1.0f, 1.0f, 1.0f}));
}

TEST(Sum, CountsEveryElementOnceAtEveryLength) {
  for (std::size_t size = 0; size < 20; ++size) EXPECT_EQ(sum(std::vector<float>(size, 0.5f)), 0.5 * size);
}

}  // namespace
}  // namespace trireme::sampling
