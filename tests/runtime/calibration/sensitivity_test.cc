#include "runtime/calibration/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runtime/calibration/linear_probe.h"
#include "tests/runtime/calibration/small_model.h"
#include "tests/support/golden.h"

namespace trireme::calibration {
namespace {

constexpr std::size_t kTextTokens = 24;
const SensitivityObserver kGoOn = [](double) { return true; };

base::Result<std::vector<MatrixSensitivity>> measure(test::SmallModel& small, const model::FormatChooser& choose,
                                                     const SensitivityObserver& observe = kGoOn) {
  const auto texts = small.texts(3, kTextTokens);
  return measure_sensitivity({*small.checkpoint, small.description, choose, {*small.ops, small.pool}, texts}, observe);
}

class SensitivityTest : public testing::TestWithParam<std::string> {
 protected:
  test::SmallModel small_{GetParam()};
};

TEST_P(SensitivityTest, CoversEveryQuantisedLinearOnce) {
  const auto measured = measure(small_, small_.int8);
  ASSERT_TRUE(measured) << measured.error().message;
  std::set<std::string> expected = {model::head_source(small_.description).name}, found;
  for (const model::MatrixSource& source :
       model::stage_sources(small_.description, {0, small_.description.num_layers(), false, false})) {
    if (is_quantised(small_.int8(source))) expected.insert(source.name);
  }
  for (const MatrixSensitivity& matrix : *measured) EXPECT_TRUE(found.insert(matrix.matrix).second) << matrix.matrix;
  EXPECT_EQ(found, expected);
}

TEST_P(SensitivityTest, FindsErrorsThatAFinerFormatReduces) {
  const auto measured = measure(small_, small_.int8);
  ASSERT_TRUE(measured);
  double errors = 0.0, finer_errors = 0.0;
  for (const MatrixSensitivity& matrix : *measured) {
    if (matrix.input_rms == 0.0) continue;  // an expert that no token chose
    EXPECT_GT(matrix.error, 0.0) << matrix.matrix;
    EXPECT_LT(matrix.error, 0.2) << matrix.matrix;
    EXPECT_GT(matrix.divergence, 0.0) << matrix.matrix;
    EXPECT_GE(matrix.input_peak, matrix.input_rms) << matrix.matrix;
    EXPECT_LE(matrix.finer_divergence(), matrix.divergence) << matrix.matrix;
    errors += matrix.error;
    finer_errors += matrix.finer_error;
  }
  EXPECT_LT(finer_errors, errors);
}

TEST_P(SensitivityTest, IsTheSameEveryTime) {
  const auto first = measure(small_, small_.int8), second = measure(small_, small_.int8);
  ASSERT_EQ(first->size(), second->size());
  for (std::size_t i = 0; i < first->size(); ++i) {
    EXPECT_EQ((*first)[i].error, (*second)[i].error);
    EXPECT_EQ((*first)[i].divergence, (*second)[i].divergence);
  }
}

TEST_P(SensitivityTest, IsEmptyWhereNothingIsQuantised) {
  EXPECT_THAT(measure(small_, small_.f32).value(), testing::IsEmpty());
}

TEST_P(SensitivityTest, StopsWhenItIsTold) {
  int calls = 0;
  EXPECT_FALSE(measure(small_, small_.int8, [&](double) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

INSTANTIATE_TEST_SUITE_P(Models, SensitivityTest, testing::Values("llama", "gemma3", "gpt2", "mixtral"),
                         [](const auto& model) { return test::parameter_name(model.param); });

TEST(LinearProbe, SwapsOneMatrixAndNoOther) {
  test::SmallModel small("llama");
  LinearProbe probe(*small.ops);
  const auto loaded =
      WholeModel::load(*small.checkpoint, small.description, small.f32, {probe, small.pool}, kTextTokens);
  ASSERT_TRUE(loaded);
  WholeModel& model = **loaded;
  const Tokens text = small.texts(1, kTextTokens).front();
  const auto run = [&](std::int32_t layer) {
    std::vector<float> hidden = model.embed(text);
    model.run_layers(layer, layer + 1, text, hidden);
    return hidden;
  };
  const std::vector<float> first = run(0), second = run(1);
  const kernels::PackedMatrixView down = model.weights().layers[0].down.matrix;
  const std::vector<std::byte> zeros(down.shape.bytes() + kernels::kMatrixAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(zeros.data());
  const std::size_t shift =
      (kernels::kMatrixAlignment - address % kernels::kMatrixAlignment) % kernels::kMatrixAlignment;
  probe.substitute(down.data, {down.shape, zeros.data() + shift});
  EXPECT_NE(run(0), first);
  EXPECT_EQ(run(1), second);
  probe.clear_substitute();
  EXPECT_EQ(run(0), first);
}

TEST(FinerFormat, EndsAtFloats) {
  using kernels::WeightFormat;
  EXPECT_EQ(finer_format(WeightFormat::kInt8), WeightFormat::kQ8_0);
  EXPECT_EQ(finer_format(WeightFormat::kQ4_1), WeightFormat::kQ8_0);
  EXPECT_EQ(finer_format(WeightFormat::kQ8_0), WeightFormat::kF16);
  EXPECT_EQ(finer_format(WeightFormat::kBF16), WeightFormat::kBF16);
}

}  // namespace
}  // namespace trireme::calibration
