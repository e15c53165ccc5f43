#include "runtime/model/rope_frequencies.h"

#include <gtest/gtest.h>

namespace trireme::model {
namespace {

TEST(RopeFrequencies, FallGeometricallyFromOne) {
  const auto frequencies = rope_frequencies(8, 10000.0);
  ASSERT_EQ(frequencies.size(), 4u);
  EXPECT_FLOAT_EQ(frequencies[0], 1.0f);
  EXPECT_FLOAT_EQ(frequencies[1], 0.1f);
  EXPECT_FLOAT_EQ(frequencies[3], 0.001f);
}

TEST(RopeFrequencies, LinearScalingDividesAll) {
  std::vector<float> frequencies = {1.0f, 0.5f};
  scale_linear(frequencies, 4.0);
  EXPECT_EQ(frequencies, (std::vector<float>{0.25f, 0.125f}));
}

TEST(RopeFrequencies, Llama3ScalingKeepsShortWavesAndStretchesLongOnes) {
  // Wavelengths 6.28, 62.8, 628, 6283 against a context of 64: kept below 16, stretched beyond 64, blended between.
  std::vector<float> frequencies = {1.0f, 0.2f, 0.01f};
  scale_llama3(frequencies, {8.0, 1.0, 4.0, 64.0});
  EXPECT_FLOAT_EQ(frequencies[0], 1.0f);
  EXPECT_FLOAT_EQ(frequencies[2], 0.01f / 8.0f);
  // wavelength 31.416: kept share = (64 / 31.416 - 1) / 3 = 0.34573
  EXPECT_NEAR(frequencies[1], 0.2 * 0.345731 + 0.2 / 8.0 * (1 - 0.345731), 1e-6);
}

}  // namespace
}  // namespace trireme::model
