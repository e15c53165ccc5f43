#include "tests/kernels/backend_test.h"

namespace trireme::kernels {
namespace {

class RopeTest : public BackendTest {
 protected:
  std::vector<float> table(Ops& ops, const std::vector<std::int32_t>& positions, std::int64_t rotary_dim) {
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
      frequencies.push_back(
          static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim))));
    }
    const auto rows = static_cast<std::int64_t>(positions.size());
    GuardedFloats output(rows * rotary_dim);
    ops.rope_table({positions.data(), frequencies.data(), 1.5f, output.data(), rows, rotary_dim}, kStream);
    EXPECT_TRUE(output.guards_intact());
    return {output.span().begin(), output.span().end()};
  }
};

TEST_P(RopeTest, TableHasTheSameBitsInEveryBackEnd) {
  std::vector<std::int32_t> positions{0, 1, 2, 511, 8191, 131071};
  for (std::int32_t i = 0; i < 300; ++i) positions.push_back(37 * i);
  const auto values = table(ops_, positions, 64);
  EXPECT_TRUE(same_bits(values, table(*reference_, positions, 64)));
  EXPECT_EQ(values[0], 1.5f);
  EXPECT_EQ(values[1], 0.0f);
  EXPECT_NEAR(values[64], 1.5 * std::cos(1.0), 1e-6);
}

TEST_P(RopeTest, AgreesWithReferenceAtAllRotaryDims) {
  for (std::int64_t rotary_dim = 2; rotary_dim <= 80; rotary_dim += 2) {
    const std::int64_t head_dim = rotary_dim + rotary_dim % 4 + 4, stride = 3 * head_dim + 5;
    const auto angles = table(*reference_, {0, 5, 77, 4001}, rotary_dim);
    const auto input = normal(4 * stride - 5);
    GuardedFloats actual(input);
    std::vector<float> expected = input;
    ops_.rope({actual.data(), stride, angles.data(), 4, 3, head_dim, rotary_dim}, kStream);
    reference_->rope({expected.data(), stride, angles.data(), 4, 3, head_dim, rotary_dim}, kStream);
    EXPECT_TRUE(actual.guards_intact());
    expect_near(actual.span(), expected, [](std::size_t) { return 3 * kEpsilon * 1.5 * 10; });  // |x| < 5
  }
}

TEST_P(RopeTest, GivesARowTheSameBitsInAnyBatch) {
  std::vector<std::int32_t> positions;
  for (std::int32_t i = 0; i < 200; ++i) positions.push_back(i);
  const auto angles = table(ops_, positions, 64);
  std::vector<float> all = normal(200 * 9 * 64);
  std::vector<float> row(all.begin() + 150 * 576, all.begin() + 151 * 576);
  ops_.rope({all.data(), 576, angles.data(), 200, 9, 64, 64}, kStream);
  ops_.rope({row.data(), 576, angles.data() + 150 * 64, 1, 9, 64, 64}, kStream);
  EXPECT_TRUE(same_bits(row, std::span(all).subspan(150 * 576, 576)));
}

TRIREME_FOR_FLOAT_BACKENDS(RopeTest);

}  // namespace
}  // namespace trireme::kernels
