#include "launch/convert/sensitivity_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/convert/calibration_report.h"

namespace trireme::launch {
namespace {

using calibration::ModelPart;

calibration::MatrixSensitivity matrix(const std::string& name, ModelPart part, std::int32_t layer, double divergence) {
  calibration::MatrixSensitivity result;
  result.matrix = name;
  result.part = part;
  result.layer = layer;
  result.error = 0.01;
  result.divergence = divergence;
  return result;
}

calibration::Calibration example() {
  calibration::Calibration result;
  result.sensitivities = {matrix("layers/0/qkv", ModelPart::kAttention, 0, 0.001),
                          matrix("layers/0/down", ModelPart::kFeedForward, 0, 0.004),
                          matrix("layers/1/qkv", ModelPart::kAttention, 1, 0.002),
                          matrix("head", ModelPart::kHead, -1, 0.003)};
  result.kept.matrices = {"layers/0/down"};
  result.exact = {10.0, 10};
  result.before = {11.0, 10};
  result.after = {10.1, 10};
  return result;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SensitivityChart, HasABarForEachHalfOfALayerAndTheHead) {
  const std::string svg = sensitivity_chart(example());
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  constexpr std::size_t kBackground = 1, kLegend = 4, kBars = 4;
  EXPECT_EQ(count(svg, "<rect "), kBackground + kLegend + kBars);
  EXPECT_EQ(count(svg, "height=\"220.00\""), 1u);  // the largest fills the plot
  EXPECT_THAT(svg, testing::HasSubstr(">head<"));
}

TEST(CalibrationReport, HasFiguresBeforeAndAfter) {
  const auto report = nlohmann::json::parse(calibration_report(example(), {"text.txt", 3, 0.05, 0.01, 1.5}));
  EXPECT_NEAR(report["float32"]["perplexity"].get<double>(), std::exp(1.0), 1e-9);
  EXPECT_NEAR(report["before"]["change_to_float32"].get<double>(), std::exp(0.1) - 1.0, 1e-9);
  EXPECT_NEAR(report["after"]["perplexity"].get<double>(), std::exp(1.01), 1e-9);
  EXPECT_EQ(report["seconds"], 1.5);
  EXPECT_EQ(report["matrices"].size(), 4u);
  EXPECT_EQ(report["matrices"][1]["kept_in"], "q8_0");
  EXPECT_EQ(report["matrices"][0]["kept_in"], "int8");
  EXPECT_NEAR(report["parts"]["attention"]["sum_of_divergences_nats"].get<double>(), 0.003, 1e-12);
  EXPECT_FALSE(report["matrices"][3].contains("layer"));
}

}  // namespace
}  // namespace trireme::launch
