#include "tests/kernels/backend_test.h"

namespace trireme::kernels {
namespace {

class RmsNormTest : public BackendTest {
 protected:
  static std::vector<float> run(Ops& ops, const std::vector<float>& input, const std::vector<float>& weight,
                                std::int64_t rows, std::int64_t groups) {
    const auto size = static_cast<std::int64_t>(weight.size());
    GuardedFloats output(rows * groups * size);
    ops.rms_norm({input.data(), groups * size, weight.data(), 1e-5f, output.data(), groups * size, rows, groups, size},
                 kStream);
    EXPECT_TRUE(output.guards_intact());
    return {output.span().begin(), output.span().end()};
  }
};

TEST_P(RmsNormTest, AgreesWithReferenceAtAllSizes) {
  for (const std::int64_t size : interesting_sizes()) {
    const auto input = normal(3 * 2 * size), weight = normal(size);
    const auto expected = run(*reference_, input, weight, 3, 2);
    // The sum of squares has only positive terms; half its relative error, and four roundings more.
    const double relative = (static_cast<double>(size) / 2 + 4) * kEpsilon;
    expect_near(run(ops_, input, weight, 3, 2), expected,
                [&](std::size_t i) { return relative * std::abs(expected[i]); });
  }
}

TEST_P(RmsNormTest, WorksInPlaceOnStridedRows) {
  const auto input = normal(4 * 100), weight = normal(16);
  GuardedFloats values(input);
  ops_.rms_norm({values.data(), 100, weight.data(), 1e-6f, values.data(), 100, 4, 3, 16}, kStream);
  std::vector<float> expected = input;
  ops_.rms_norm({input.data(), 100, weight.data(), 1e-6f, expected.data(), 100, 4, 3, 16}, kStream);
  EXPECT_TRUE(same_bits(values.span(), expected));
  EXPECT_EQ(values[48], input[48]);
}

TEST_P(RmsNormTest, GivesARowTheSameBitsInAnyBatch) {
  const auto input = normal(300 * 577), weight = normal(577);
  const auto all = run(ops_, input, weight, 300, 1);
  const std::vector<float> row(input.begin() + 123 * 577, input.begin() + 124 * 577);
  EXPECT_TRUE(same_bits(run(ops_, row, weight, 1, 1), std::span(all).subspan(123 * 577, 577)));
}

TEST_P(RmsNormTest, OfZerosIsZeroAndOfNotANumberIsNone) {
  EXPECT_EQ(run(ops_, {0, 0, 0}, {1, 1, 1}, 1, 1), (std::vector<float>{0, 0, 0}));
  for (const float value : run(ops_, {1, std::nanf(""), 0}, {1, 1, 1}, 1, 1)) EXPECT_TRUE(std::isnan(value));
}

TRIREME_FOR_FLOAT_BACKENDS(RmsNormTest);

}  // namespace
}  // namespace trireme::kernels
