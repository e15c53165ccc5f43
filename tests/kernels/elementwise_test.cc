// add, softcap and gather_rows.
#include "tests/kernels/backend_test.h"

namespace trireme::kernels {
namespace {

class ElementwiseTest : public BackendTest {};

TEST_P(ElementwiseTest, AddIsExactAtAllSizes) {
  auto sizes = interesting_sizes();
  sizes.push_back(0);
  sizes.push_back(100001);
  for (const std::int64_t size : sizes) {
    const auto input = normal(size), before = normal(size);
    GuardedFloats output(before);
    ops_.add({input.data(), output.data(), size}, kStream);
    EXPECT_TRUE(output.guards_intact());
    for (std::int64_t i = 0; i < size; ++i) {
      const auto k = static_cast<std::size_t>(i);
      ASSERT_EQ(output[i], before[k] + input[k]);
    }
  }
}

TEST_P(ElementwiseTest, SoftcapAgreesWithReference) {
  auto values = normal(2049, 40.0f);
  for (const float special : {0.0f, 1e-30f, -1e-3f, 1e10f, -1e10f}) values.push_back(special);
  for (const float cap : {30.0f, 1.0f}) {
    GuardedFloats actual(values);
    std::vector<float> expected = values;
    ops_.softcap({actual.data(), static_cast<std::int64_t>(values.size()), cap}, kStream);
    reference_->softcap({expected.data(), static_cast<std::int64_t>(values.size()), cap}, kStream);
    EXPECT_TRUE(actual.guards_intact());
    expect_near(actual.span(), expected, [&](std::size_t i) { return 8 * kEpsilon * std::abs(expected[i]) + 1e-37; });
  }
}

TEST_P(ElementwiseTest, SoftcapKeepsNotANumber) {
  std::vector<float> values{1.0f, std::nanf(""), 2.0f};
  ops_.softcap({values.data(), 3, 30.0f}, kStream);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_FALSE(std::isnan(values[0]) || std::isnan(values[2]));
}

TEST_P(ElementwiseTest, GatherCopiesRowsInAnyOrder) {
  const auto input = normal(10 * 577);
  const std::vector<std::int32_t> rows{9, 0, 3, 3};
  GuardedFloats output(4 * 577);
  ops_.gather_rows({input.data(), rows.data(), output.data(), 4, 577}, kStream);
  EXPECT_TRUE(output.guards_intact());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto source = static_cast<std::size_t>(rows[r]);
    EXPECT_TRUE(same_bits(output.span().subspan(r * 577, 577), std::span(input).subspan(source * 577, 577)));
  }
}

TRIREME_FOR_FLOAT_BACKENDS(ElementwiseTest);

}  // namespace
}  // namespace trireme::kernels
