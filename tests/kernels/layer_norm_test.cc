#include "tests/kernels/backend_test.h"

namespace trireme::kernels {
namespace {

class LayerNormTest : public BackendTest {
 protected:
  static std::vector<float> run(Ops& ops, const std::vector<float>& input, const std::vector<float>& weight,
                                const std::vector<float>& bias) {
    const auto size = static_cast<std::int64_t>(weight.size());
    const auto rows = static_cast<std::int64_t>(input.size()) / size;
    GuardedFloats output(rows * size);
    ops.layer_norm(
        {input.data(), weight.data(), bias.empty() ? nullptr : bias.data(), 1e-5f, output.data(), rows, size}, kStream);
    EXPECT_TRUE(output.guards_intact());
    return {output.span().begin(), output.span().end()};
  }
};

TEST_P(LayerNormTest, AgreesWithReferenceAtAllSizes) {
  for (const std::int64_t size : interesting_sizes()) {
    auto input = normal(3 * size);
    for (float& value : input) value += 2.0f;
    const auto weight = normal(size), bias = normal(size);
    const auto expected = run(*reference_, input, weight, bias);
    // A deviation loses what the mean's error, some size / 32 units of at most 8, is to the row's spread.
    const double error = (static_cast<double>(size) / 8 + 64) * kEpsilon;
    expect_near(run(ops_, input, weight, bias), expected, [&](std::size_t i) {
      const auto column = i % static_cast<std::size_t>(size);
      const double spread = size < 4 ? 300.0 : 4.0;  // of one element about an epsilon under the root is left
      return error * spread * (std::abs(weight[column]) + std::abs(bias[column]) + std::abs(expected[i]));
    });
  }
}

TEST_P(LayerNormTest, ABiasIsOptional) {
  const auto input = normal(2 * 100), weight = normal(100);
  EXPECT_TRUE(same_bits(run(ops_, input, weight, {}), run(ops_, input, weight, std::vector<float>(100, 0.0f))));
}

TEST_P(LayerNormTest, WorksInPlace) {
  const auto input = normal(5 * 67), weight = normal(67), bias = normal(67);
  GuardedFloats values(input);
  ops_.layer_norm({values.data(), weight.data(), bias.data(), 1e-5f, values.data(), 5, 67}, kStream);
  EXPECT_TRUE(values.guards_intact());
  EXPECT_TRUE(same_bits(values.span(), run(ops_, input, weight, bias)));
}

TEST_P(LayerNormTest, GivesARowTheSameBitsInAnyBatch) {
  const auto input = normal(300 * 577), weight = normal(577), bias = normal(577);
  const auto all = run(ops_, input, weight, bias);
  const std::vector<float> row(input.begin() + 123 * 577, input.begin() + 124 * 577);
  EXPECT_TRUE(same_bits(run(ops_, row, weight, bias), std::span(all).subspan(123 * 577, 577)));
}

TEST_P(LayerNormTest, OfEqualElementsIsTheBiasAndOfNotANumberIsNone) {
  EXPECT_EQ(run(ops_, {3, 3, 3}, {1, 1, 1}, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
  for (const float value : run(ops_, {1, std::nanf(""), 0}, {1, 1, 1}, {})) EXPECT_TRUE(std::isnan(value));
}

TRIREME_FOR_FLOAT_BACKENDS(LayerNormTest);

}  // namespace
}  // namespace trireme::kernels
