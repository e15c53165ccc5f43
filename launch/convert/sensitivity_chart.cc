#include "launch/convert/sensitivity_chart.h"

#include <algorithm>
#include <map>
#include <utility>

#include "launch/format.h"
#include "launch/svg.h"

namespace trireme::launch {
namespace {

using calibration::MatrixSensitivity;
using calibration::ModelPart;

constexpr double kBarWidth = 9.0, kGroupWidth = 24.0;
constexpr double kPlotHeight = 220.0, kLeft = 60.0, kTop = 56.0, kBottom = 40.0;

const char* colour_of(ModelPart part) {
  switch (part) {
    case ModelPart::kAttention: return "#3b6fb6";
    case ModelPart::kFeedForward: return "#d9822b";
    case ModelPart::kHead: return "#5b8c5a";
  }
  return "#888";
}

struct Bar {
  double rounded = 0.0, kept = 0.0;  // divergences of the matrices that stay rounded, and of those kept finer
};
using Bars = std::map<std::pair<std::int32_t, ModelPart>, Bar>;

Bars collect(const calibration::Calibration& calibration) {
  std::int32_t num_layers = 0;
  for (const MatrixSensitivity& matrix : calibration.sensitivities) num_layers = std::max(num_layers, matrix.layer + 1);
  Bars bars;
  for (const MatrixSensitivity& matrix : calibration.sensitivities) {
    Bar& bar = bars[{matrix.layer < 0 ? num_layers : matrix.layer, matrix.part}];
    (calibration.kept.matrices.contains(matrix.matrix) ? bar.kept : bar.rounded) += matrix.divergence;
  }
  return bars;
}

std::string draw(double x, double base, double height, const char* colour, svg::Fill fill) {
  return svg::rectangle({x, base - height, kBarWidth, height}, colour, fill);
}

std::string legend(bool has_kept) {
  std::string text;
  double x = kLeft;
  for (const auto& [part, name] : {std::pair{ModelPart::kAttention, "attention"},
                                   {ModelPart::kFeedForward, "feed-forward"},
                                   {ModelPart::kHead, "head"}}) {
    text += draw(x, kTop - 18.0, kBarWidth, colour_of(part), svg::Fill::kSolid);
    text += svg::text(x + 14.0, kTop - 18.0, svg::Anchor::kStart, name);
    x += 100.0;
  }
  if (!has_kept) return text;
  return text + draw(x, kTop - 18.0, kBarWidth, "#666", svg::Fill::kHollow) +
         svg::text(x + 14.0, kTop - 18.0, svg::Anchor::kStart, "kept finer");
}

}  // namespace

std::string sensitivity_chart(const calibration::Calibration& calibration) {
  const Bars bars = collect(calibration);
  double largest = 1e-12;
  std::int32_t last = 0;
  for (const auto& [place, bar] : bars) {
    largest = std::max(largest, bar.rounded + bar.kept);
    last = std::max(last, place.first);
  }
  const double width = std::max(kLeft + kGroupWidth * (last + 1) + 20.0, 460.0), base = kTop + kPlotHeight;
  std::string body;
  body += svg::text(kLeft, 20.0, svg::Anchor::kStart, "Sensitivity by layer: divergence of the next token, nats");
  body += legend(!calibration.kept.matrices.empty());
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double y = base - kPlotHeight * tick / kTicks;
    body += svg::line(kLeft, y, width - 10.0, y, "#ddd");
    body += svg::text(kLeft - 6.0, y + 4.0, svg::Anchor::kEnd, format("%.1e", largest * tick / kTicks));
  }
  for (const auto& [place, bar] : bars) {
    const bool second = place.second == ModelPart::kFeedForward;
    const double x = kLeft + 4.0 + kGroupWidth * place.first + (second ? kBarWidth : 0.0);
    const double scale = kPlotHeight / largest, rounded = bar.rounded * scale;
    if (bar.rounded > 0.0) body += draw(x, base, rounded, colour_of(place.second), svg::Fill::kSolid);
    if (bar.kept > 0.0) body += draw(x, base - rounded, bar.kept * scale, colour_of(place.second), svg::Fill::kHollow);
    if (second) continue;
    const std::string label = place.second == ModelPart::kHead ? "head" : std::to_string(place.first);
    body += svg::text(x + kBarWidth, base + 16.0, svg::Anchor::kMiddle, label);
  }
  return svg::document(width, base + kBottom, body);
}

}  // namespace trireme::launch
