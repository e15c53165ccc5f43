#include "tests/kernels/backend_test.h"

namespace trireme::kernels {
namespace {

class ActivationTest : public BackendTest {
 protected:
  static std::vector<float> run(Ops& ops, Activation activation, const std::vector<float>& gate,
                                const std::vector<float>* up) {
    const auto size = static_cast<std::int64_t>(gate.size());
    GuardedFloats output(size);
    ops.activation({gate.data(), up != nullptr ? up->data() : nullptr, size, output.data(), size, 1, size, activation},
                   kStream);
    EXPECT_TRUE(output.guards_intact());
    return {output.span().begin(), output.span().end()};
  }
  static constexpr Activation kAll[] = {Activation::kSilu, Activation::kGeluTanh, Activation::kGeluErf,
                                        Activation::kRelu};
};

TEST_P(ActivationTest, AgreesWithReferenceAtAllSizes) {
  for (const Activation activation : kAll) {
    for (const std::int64_t size : interesting_sizes()) {
      const auto gate = normal(size, 3.0f), up = normal(size);
      const auto expected = run(*reference_, activation, gate, &up);
      // x * s(x) * up with s in [0, 1]: the factor s has an absolute error of some epsilon, more where its exponent
      // grows.
      expect_near(run(ops_, activation, gate, &up), expected, [&](std::size_t i) {
        return 8 * kEpsilon * (1 + std::abs(gate[i])) * std::abs(gate[i] * up[i]) + 1e-37;
      });
      const auto alone = run(*reference_, activation, gate, nullptr);
      expect_near(run(ops_, activation, gate, nullptr), alone,
                  [&](std::size_t i) { return 8 * kEpsilon * (1 + std::abs(gate[i])) * std::abs(gate[i]) + 1e-37; });
    }
  }
}

TEST_P(ActivationTest, HandlesExtremeAndSpecialValues) {
  const std::vector<float> gate{0.0f, -0.0f, 1e-40f, -1e-40f, 50.0f, -50.0f, 200.0f, -200.0f, 1e30f, -1e30f, 3e38f};
  for (const Activation activation : kAll) {
    const auto expected = run(*reference_, activation, gate, nullptr);
    expect_near(run(ops_, activation, gate, nullptr), expected,
                [&](std::size_t i) { return 8 * kEpsilon * std::abs(expected[i]) + (gate[i] < 0 ? 1e-5 : 0.0); });
    EXPECT_TRUE(std::isnan(run(ops_, activation, {std::nanf("")}, nullptr)[0]));
  }
}

TEST_P(ActivationTest, WorksInPlaceAndRowByRow) {
  const auto input = normal(50 * 700);  // rows of gate | up
  std::vector<float> values = input, expected(50 * 350);
  ops_.activation({input.data(), input.data() + 350, 700, expected.data(), 350, 50, 350, Activation::kSilu}, kStream);
  ops_.activation({values.data(), values.data() + 350, 700, values.data(), 700, 50, 350, Activation::kSilu}, kStream);
  for (std::size_t r = 0; r < 50; ++r) {
    EXPECT_TRUE(same_bits(std::span(values).subspan(r * 700, 350), std::span(expected).subspan(r * 350, 350)));
    EXPECT_TRUE(same_bits(std::span(values).subspan(r * 700 + 350, 350), std::span(input).subspan(r * 700 + 350, 350)));
  }
}

TRIREME_FOR_FLOAT_BACKENDS(ActivationTest);

}  // namespace
}  // namespace trireme::kernels
