#include "kernels/quantise_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/aligned_buffer.h"
#include "base/dtype.h"
#include "kernels/reference/packed_element.h"
#include "tests/kernels/packed_weights.h"

namespace trireme::kernels {
namespace {

constexpr WeightFormat kGroupFormats[] = {WeightFormat::kQ8_0, WeightFormat::kQ4_0, WeightFormat::kQ4_1};

std::vector<float> normal_row(std::size_t size) {
  std::mt19937 random(3);
  std::normal_distribution<float> distribution;
  std::vector<float> row(size);
  for (float& w : row) w = distribution(random);
  return row;
}

TEST(QuantiseWeights, AChannelErrsByHalfAStepAtMost) {
  const auto row = normal_row(100);
  const ChannelRow channel = quantise_channel(row);
  float largest = 0.0f;
  for (std::size_t i = 0; i < row.size(); ++i) {
    largest = std::max(largest, std::fabs(row[i]));
    EXPECT_LE(std::abs(channel.quants[i]), 127);
    EXPECT_NEAR(row[i], channel.scale * static_cast<float>(channel.quants[i]), channel.scale * 0.501f);
  }
  EXPECT_EQ(channel.scale, largest / 127.0f);
}

TEST(QuantiseWeights, AGroupErrsByHalfAStepAtMostAndKeepsItsRange) {
  const auto row = normal_row(96);
  for (const WeightFormat format : kGroupFormats) {
    GroupedRowBuffer buffer;
    quantise_groups(format, row, buffer);
    ASSERT_EQ(buffer.scales.size(), 3u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const float scale = base::f16_to_f32(buffer.scales[i / 32]);
      const float minimum = buffer.minimums.empty() ? 0.0f : base::f16_to_f32(buffer.minimums[i / 32]);
      const auto quant = static_cast<float>(buffer.quants[i]);
      EXPECT_GE(quant, static_cast<float>(quant_range(format).low));
      EXPECT_LE(quant, static_cast<float>(quant_range(format).high));
      // With 4 bits the ends may be cut.
      const float steps = format == WeightFormat::kQ8_0 ? 0.55f : format == WeightFormat::kQ4_1 ? 2.3f : 3.2f;
      EXPECT_NEAR(row[i], scale * quant + minimum, std::fabs(scale) * steps) << to_string(format) << ' ' << i;
    }
  }
}

TEST(QuantiseWeights, FourBitsCutAnOutlierWhereThatErrsLess) {
  // Many weights near zero and one far away: its full range would leave the many with few steps.
  for (const WeightFormat format : {WeightFormat::kQ4_0, WeightFormat::kQ4_1}) {
    std::vector<float> row = normal_row(32);
    row[5] = 4.5f;
    GroupedRowBuffer buffer;
    quantise_groups(format, row, buffer);
    double error = 0.0, full_range_error = 0.0;
    const float low = *std::min_element(row.begin(), row.end());
    const float step = format == WeightFormat::kQ4_0 ? 4.5f / 8.0f : (4.5f - low) / 15.0f;
    const float start = format == WeightFormat::kQ4_0 ? 0.0f : low;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const float minimum = buffer.minimums.empty() ? 0.0f : base::f16_to_f32(buffer.minimums[0]);
      const float element = base::f16_to_f32(buffer.scales[0]) * static_cast<float>(buffer.quants[i]) + minimum;
      error += std::pow(element - row[i], 2);
      full_range_error += std::pow(start + step * std::nearbyint((row[i] - start) / step) - row[i], 2);
    }
    EXPECT_LT(error, full_range_error * 1.02) << to_string(format);
  }
}

TEST(QuantiseWeights, ZerosStayZerosAndTheLastGroupIsPadded) {
  for (const WeightFormat format : kGroupFormats) {
    const std::vector<float> row(40, 0.0f);
    GroupedRowBuffer buffer;
    quantise_groups(format, row, buffer);
    EXPECT_EQ(buffer.scales.size(), 2u);
    EXPECT_EQ(buffer.quants, std::vector<std::int8_t>(64, 0)) << to_string(format);
  }
  EXPECT_EQ(quantise_channel(std::vector<float>(5)).scale, 0.0f);
}

TEST(QuantiseWeights, PackedElementsAreThoseThatWereQuantised) {
  const std::int64_t out = 35, in = 70;
  const auto rows = normal_row(static_cast<std::size_t>(out * in));
  for (const WeightFormat format :
       {WeightFormat::kInt8, WeightFormat::kQ8_0, WeightFormat::kQ4_0, WeightFormat::kQ4_1}) {
    const PackedWeights packed({format, out, in}, rows);
    const float tolerance = has_four_bits(format) ? 0.6f : 0.02f;
    for (std::int64_t o = 0; o < out; ++o) {
      for (std::int64_t i = 0; i < in; ++i) {
        ASSERT_NEAR(reference::packed_element(packed.view(), o, i), rows[static_cast<std::size_t>(o * in + i)],
                    tolerance)
            << to_string(format) << ' ' << o << ' ' << i;
      }
    }
  }
}

TEST(QuantiseWeights, AQuantisedRowIsPackedAsItIs) {
  for (const WeightFormat format : kGroupFormats) {
    const PackedMatrixShape shape{format, 40, 64};
    base::AlignedBuffer<std::byte> packed(shape.bytes());
    const QuantRange range = quant_range(format);
    std::vector<std::int8_t> quants(64);
    for (std::size_t i = 0; i < quants.size(); ++i) {
      quants[i] = static_cast<std::int8_t>(range.low + static_cast<int>(i * 5) % (range.high - range.low + 1));
    }
    const std::vector<std::uint16_t> scales{base::f32_to_f16(0.5f), base::f32_to_f16(-2.0f)};
    const std::vector<std::uint16_t> minimums{base::f32_to_f16(3.0f), base::f32_to_f16(-1.0f)};
    pack_row(shape, {scales, minimums, quants}, 33, packed.data());
    for (std::int64_t i = 0; i < 64; ++i) {
      const auto element = reference::quantised_element({shape, packed.data()}, 33, i);
      ASSERT_EQ(element.quant, quants[static_cast<std::size_t>(i)]) << to_string(format) << ' ' << i;
      EXPECT_EQ(element.scale, i < 32 ? 0.5f : -2.0f);
      if (format == WeightFormat::kQ4_1) {
        EXPECT_EQ(element.minimum, i < 32 ? 3.0f : -1.0f);
      }
    }
  }
}

TEST(PackedMatrixShape, CountsTheBytesOfEachFormat) {
  const auto bits = [](WeightFormat format) {
    const PackedMatrixShape shape{format, 64, 1024};
    return 8.0 * static_cast<double>(shape.bytes()) / (64 * 1024);
  };
  EXPECT_EQ(bits(WeightFormat::kF32), 32.0);
  EXPECT_EQ(bits(WeightFormat::kF16), 16.0);
  EXPECT_EQ(bits(WeightFormat::kInt8), 8.0 + 32.0 / 1024);
  EXPECT_EQ(bits(WeightFormat::kQ8_0), 8.5);
  EXPECT_EQ(bits(WeightFormat::kQ4_0), 4.5);
  EXPECT_EQ(bits(WeightFormat::kQ4_1), 5.0);
}

}  // namespace
}  // namespace trireme::kernels
