#include "runtime/calibration/keep_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::calibration {
namespace {

using kernels::WeightFormat;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Kept finer, nothing of its divergence is left.
MatrixSensitivity matrix(const std::string& name, double divergence, std::int64_t extra_bytes) {
  MatrixSensitivity result;
  result.matrix = name;
  result.bytes = 1000;
  result.finer_bytes = result.bytes + extra_bytes;
  result.error = 0.1;
  result.divergence = divergence;
  return result;
}

TEST(KeepChoice, TakesTheLargestGainPerByteFirst) {
  const std::vector<MatrixSensitivity> matrices = {matrix("a", 0.02, 100), matrix("b", 0.03, 300),
                                                   matrix("c", 0.01, 10)};
  EXPECT_THAT(choose_kept(matrices, {10, 0.0}).matrices, UnorderedElementsAre("c"));
  EXPECT_THAT(choose_kept(matrices, {110, 0.0}).matrices, UnorderedElementsAre("a", "c"));
  EXPECT_THAT(choose_kept(matrices, {410, 0.0}).matrices, UnorderedElementsAre("a", "b", "c"));
}

TEST(KeepChoice, NeverExceedsItsBytesAndSkipsWhatDoesNotFit) {
  const std::vector<MatrixSensitivity> matrices = {matrix("large", 0.9, 100), matrix("small", 0.001, 20)};
  const KeepChoice choice = choose_kept(matrices, {99, 0.0});
  EXPECT_THAT(choice.matrices, UnorderedElementsAre("small"));
  EXPECT_EQ(choice.extra_bytes, 20);
  EXPECT_NEAR(choice.estimated_divergence, 0.9, 1e-12);
}

TEST(KeepChoice, StopsWhenTheRestIsWithinTheTolerance) {
  const std::vector<MatrixSensitivity> matrices = {matrix("a", 0.02, 10), matrix("b", 0.005, 10),
                                                   matrix("c", 0.004, 10)};
  const KeepChoice choice = choose_kept(matrices, {1000, 0.01});
  EXPECT_THAT(choice.matrices, UnorderedElementsAre("a"));
  EXPECT_NEAR(choice.estimated_divergence, 0.009, 1e-12);
  EXPECT_THAT(choose_kept(matrices, {1000, 0.1}).matrices, IsEmpty());
}

TEST(KeepChoice, LeavesWhatAFinerFormatDoesNotImprove) {
  MatrixSensitivity exact_already = matrix("a", 0.02, 10);
  exact_already.finer_error = exact_already.error;
  EXPECT_THAT(choose_kept(std::vector{exact_already}, {1000, 0.0}).matrices, IsEmpty());
}

TEST(KeepChoice, ChangesTheFormatsOfTheKeptAlone) {
  const model::FormatChooser choose = [](const model::MatrixSource& source) {
    return source.name == "embedding" ? WeightFormat::kQ8_0 : WeightFormat::kInt8;
  };
  const model::FormatChooser kept = with_kept(choose, {"embedding", "layers/0/down"});
  const auto format = [&](const std::string& name) { return kept({{}, 0, name}); };
  EXPECT_EQ(format("embedding"), WeightFormat::kF16);
  EXPECT_EQ(format("layers/0/down"), WeightFormat::kQ8_0);
  EXPECT_EQ(format("layers/1/down"), WeightFormat::kInt8);
}

}  // namespace
}  // namespace trireme::calibration
