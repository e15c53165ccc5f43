#include "runtime/calibration/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/calibration/small_model.h"

namespace trireme::calibration {
namespace {

class CalibrateTest : public testing::Test {
 protected:
  base::Result<Calibration> run(
      const model::FormatChooser& choose, double keep_share, double tolerance,
      const CalibrationObserver& observe = [](const std::string&, double) { return true; }) {
    texts_.samples = small_.texts(3, 24);
    texts_.evaluation = small_.texts(5, 40);
    texts_.evaluation.erase(texts_.evaluation.begin(), texts_.evaluation.begin() + 3);
    return calibrate(
        {*small_.checkpoint, small_.description, choose, {*small_.ops, small_.pool}, texts_, keep_share, tolerance},
        observe);
  }
  test::SmallModel small_{"llama"};
  CalibrationTexts texts_;
};

TEST_F(CalibrateTest, KeepsWithinItsBytesAndVerifies) {
  const auto result = run(small_.int8, 0.05, 0.0);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->kept.matrices.empty());
  EXPECT_LE(static_cast<double>(result->bytes_after), 1.05 * static_cast<double>(result->bytes_before));
  for (const TextLoss& loss : {result->exact, result->before, result->after}) {
    EXPECT_EQ(loss.num_tokens, 2 * 39);
    EXPECT_NEAR(loss.perplexity(), result->exact.perplexity(), 0.2 * result->exact.perplexity());
  }
  EXPECT_NE(result->before.sum, result->exact.sum);
  EXPECT_NE(result->after.sum, result->before.sum);
}

TEST_F(CalibrateTest, KeepsNothingWithoutBytes) {
  const auto result = run(small_.int8, 0.0, 0.0);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->kept.matrices.empty());
  EXPECT_EQ(result->bytes_after, result->bytes_before);
  EXPECT_EQ(result->after.sum, result->before.sum);
}

TEST_F(CalibrateTest, RefusesWhatIsNotQuantised) {
  EXPECT_FALSE(run(small_.f32, 0.05, 0.0));
}

TEST_F(CalibrateTest, StopsDuringEitherStep) {
  for (const std::string step : {"sensitivity", "verification"}) {
    EXPECT_FALSE(run(small_.int8, 0.05, 0.0, [&](const std::string& at, double) { return at != step; })) << step;
  }
}

}  // namespace
}  // namespace trireme::calibration
