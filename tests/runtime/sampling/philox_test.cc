#include "runtime/sampling/philox.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/sampling/sampler.h"

namespace trireme::sampling {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known answers that the authors publish with their library.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Uniform, IsMadeOfTheFirstTwoWords) {
  EXPECT_EQ(uniform(0, 0, 0), static_cast<double>(0x6627e8d5e169c58dULL >> 11) / 9007199254740992.0);
}

TEST(Uniform, DependsOnEveryPartOfItsArguments) {
  std::set<double> values;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32}) {
    for (const std::uint32_t choice : {0U, 1U, 0x80000000U}) {
      for (const std::int64_t position : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 32}) {
        values.insert(uniform(seed, choice, position));
      }
    }
  }
  EXPECT_EQ(values.size(), 27U);
}

TEST(Uniform, FillsTheUnitIntervalEvenly) {
  constexpr int kNumBins = 64;
  constexpr int kNumDraws = 64000;
  std::array<int, kNumBins> counts{};
  for (int i = 0; i < kNumDraws; ++i) {
    const double u = uniform(42, 0, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts[static_cast<std::size_t>(u * kNumBins)];
  }
  double chi_square = 0.0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 130.0);  // 63 degrees of freedom: mean 63, deviation 11
}

}  // namespace
}  // namespace trireme::sampling
