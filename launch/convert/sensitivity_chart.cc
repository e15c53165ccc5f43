#include "launch/convert/sensitivity_chart.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

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

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text.c_str());
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

std::string draw(double x, double base, double height, const char* colour, bool hollow) {
  return format(
      "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"%s\"/>\n", x,
      base - height, kBarWidth, height, colour, hollow ? "0.15" : "1", colour);
}

std::string legend(bool has_kept) {
  std::string text;
  double x = kLeft;
  for (const auto& [part, name] : {std::pair{ModelPart::kAttention, "attention"},
                                   {ModelPart::kFeedForward, "feed-forward"},
                                   {ModelPart::kHead, "head"}}) {
    text += draw(x, kTop - 18.0, kBarWidth, colour_of(part), false) + text_at(x + 14.0, kTop - 18.0, "start", name);
    x += 100.0;
  }
  if (!has_kept) return text;
  return text + draw(x, kTop - 18.0, kBarWidth, "#666", true) + text_at(x + 14.0, kTop - 18.0, "start", "kept finer");
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
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" "
      "fill=\"white\"/>\n",
      width, base + kBottom);
  svg += text_at(kLeft, 20.0, "start", "Sensitivity by layer: divergence of the next token, nats");
  svg += legend(!calibration.kept.matrices.empty());
  constexpr int kTicks = 4;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double y = base - kPlotHeight * tick / kTicks;
    svg +=
        format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, y, width - 10.0, y);
    svg += text_at(kLeft - 6.0, y + 4.0, "end", format("%.1e", largest * tick / kTicks));
  }
  for (const auto& [place, bar] : bars) {
    const bool second = place.second == ModelPart::kFeedForward;
    const double x = kLeft + 4.0 + kGroupWidth * place.first + (second ? kBarWidth : 0.0);
    const double scale = kPlotHeight / largest, rounded = bar.rounded * scale;
    if (bar.rounded > 0.0) svg += draw(x, base, rounded, colour_of(place.second), false);
    if (bar.kept > 0.0) svg += draw(x, base - rounded, bar.kept * scale, colour_of(place.second), true);
    if (second) continue;
    const std::string label = place.second == ModelPart::kHead ? "head" : std::to_string(place.first);
    svg += text_at(x + kBarWidth, base + 16.0, "middle", label);
  }
  return svg + "</svg>\n";
}

}  // namespace trireme::launch
