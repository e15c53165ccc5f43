#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trireme::base {
namespace {

TEST(DType, EveryHalfSurvivesTheWayThereAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
    } else {
      EXPECT_EQ(f32_to_f16(value), half) << bits;
    }
  }
}

TEST(DType, HalfRoundsToNearestEven) {
  EXPECT_EQ(f16_to_f32(f32_to_f16(1.0f + 0x1p-11f)), 1.0f);               // halfway: to even
  EXPECT_EQ(f16_to_f32(f32_to_f16(1.0f + 0x1.8p-10f)), 1.0f + 0x1p-9f);   // halfway: to even, upwards
  EXPECT_EQ(f16_to_f32(f32_to_f16(1.0f + 0x1.1p-11f)), 1.0f + 0x1p-10f);  // above halfway
  EXPECT_EQ(f16_to_f32(f32_to_f16(0x1p-25f)), 0.0f);                      // half of the smallest: to even
  EXPECT_EQ(f16_to_f32(f32_to_f16(0x1.8p-25f)), 0x1p-24f);
  EXPECT_EQ(f16_to_f32(f32_to_f16(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(f16_to_f32(f32_to_f16(65520.0f))));
  EXPECT_EQ(f32_to_f16(-0.0f), 0x8000);
}

TEST(DType, EveryBfloatSurvivesAndRoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto value = static_cast<std::uint16_t>(bits);
    if (std::isnan(bf16_to_f32(value))) continue;
    EXPECT_EQ(f32_to_bf16(bf16_to_f32(value)), value);
  }
  EXPECT_EQ(bf16_to_f32(f32_to_bf16(1.0f + 0x1p-8f)), 1.0f);
  EXPECT_EQ(bf16_to_f32(f32_to_bf16(1.0f + 0x1.8p-7f)), 1.0f + 0x1p-6f);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace trireme::base
