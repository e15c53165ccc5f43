#include <limits>

#include "tests/kernels/backend_test.h"

namespace trireme::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class LogSumExpTest : public BackendTest {
 protected:
  static float run(Ops& ops, const std::vector<float>& row) {
    GuardedFloats output(1);
    ops.log_sum_exp({row.data(), output.data(), 1, static_cast<std::int64_t>(row.size())}, kStream);
    EXPECT_TRUE(output.guards_intact());
    return output[0];
  }
};

TEST_P(LogSumExpTest, AgreesWithReferenceAtAllSizes) {
  auto sizes = interesting_sizes();
  sizes.push_back(49152);
  for (const std::int64_t size : sizes) {
    const auto row = normal(size, 5.0f);
    const float expected = run(*reference_, row);
    // Relative error of a sum of positive terms, and the rounding of the result.
    const double bound = (static_cast<double>(size) / 32 + 8) * kEpsilon + 2 * kEpsilon * std::abs(expected);
    EXPECT_NEAR(run(ops_, row), expected, bound) << size;
  }
}

TEST_P(LogSumExpTest, IgnoresMinusInfinityAndFarSmallerTerms) {
  EXPECT_EQ(run(ops_, {-kInfinity, 3.0f, -kInfinity}), 3.0f);
  EXPECT_EQ(run(ops_, {-1000.0f, 2.0f, -3e38f}), 2.0f);
  EXPECT_EQ(run(ops_, {1000.0f}), 1000.0f);
  EXPECT_EQ(run(ops_, std::vector<float>(20, -kInfinity)), -kInfinity);
}

TEST_P(LogSumExpTest, ShowsNotANumberAndInfinity) {
  for (std::size_t at : {0u, 5u, 16u, 18u}) {
    std::vector<float> row(19, 1.0f);
    row[at] = std::nanf("");
    EXPECT_TRUE(std::isnan(run(ops_, row))) << at;
    row[at] = kInfinity;
    EXPECT_EQ(run(ops_, row), kInfinity) << at;
  }
}

TEST_P(LogSumExpTest, GivesARowTheSameBitsInAnyBatch) {
  const auto rows = normal(40 * 5000);
  std::vector<float> all(40);
  ops_.log_sum_exp({rows.data(), all.data(), 40, 5000}, kStream);
  const std::vector<float> row(rows.begin() + 17 * 5000, rows.begin() + 18 * 5000);
  EXPECT_EQ(run(ops_, row), all[17]);
}

TRIREME_FOR_FLOAT_BACKENDS(LogSumExpTest);

}  // namespace
}  // namespace trireme::kernels
