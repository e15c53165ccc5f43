#include "launch/bench/ladder/ladder_chart.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "launch/format.h"
#include "launch/svg.h"

namespace trireme::launch {
namespace {

constexpr double kLeft = 260.0, kTop = 64.0, kRowHeight = 30.0, kBarHeight = 18.0;
constexpr double kPanelWidth = 210.0, kLongestBar = 140.0, kBottom = 24.0;

struct Panel {
  const char* title;
  const char* colour;
  int decimals;
  std::function<double(const RungReport&)> value;
};

std::vector<Panel> panels() {
  return {{"output tokens/s", "#3b6fb6", 1, [](const RungReport& rung) { return rung.figures.tokens_per_s; }},
          {"P99 latency, s", "#d9822b", 2, [](const RungReport& rung) { return rung.figures.p99_latency_s; }},
          {"peak memory of a rank, MiB", "#5b8c5a", 0,
           [](const RungReport& rung) { return static_cast<double>(rung.max_peak_bytes()) / (1 << 20); }}};
}

double row_of(std::size_t rung) {
  return kTop + kRowHeight * static_cast<double>(rung);
}

std::string draw(const Panel& panel, const std::vector<RungReport>& rungs, double x) {
  double largest = 1e-12;
  for (const RungReport& rung : rungs) largest = std::max(largest, panel.value(rung));
  std::string body = svg::text(x, kTop - 14.0, svg::Anchor::kStart, panel.title);
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const double value = panel.value(rungs[i]), length = kLongestBar * value / largest;
    body += svg::rectangle({x, row_of(i), length, kBarHeight}, panel.colour);
    body += svg::text(x + length + 6.0, row_of(i) + 13.0, svg::Anchor::kStart, format("%.*f", panel.decimals, value));
  }
  return body;
}

}  // namespace

std::string ladder_chart(const LadderReport& report) {
  std::string body =
      svg::text(12.0, 22.0, svg::Anchor::kStart, report.model + ": one workload, one optimisation more on each rung");
  for (std::size_t i = 0; i < report.rungs.size(); ++i) {
    body += svg::text(12.0, row_of(i) + 13.0, svg::Anchor::kStart, format("%zu ", i + 1) + report.rungs[i].rung.name);
  }
  double x = kLeft;
  for (const Panel& panel : panels()) {
    body += draw(panel, report.rungs, x);
    x += kPanelWidth;
  }
  return svg::document(x, row_of(report.rungs.size()) + kBottom, body);
}

}  // namespace trireme::launch
