#include "launch/bench/ladder/ladder_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/bench/ladder/ladder_chart.h"

namespace trireme::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

RunFigures figures(double tokens_per_s, double mean_s, double p99_s) {
  RunFigures result;
  result.seconds = 2.0;
  result.tokens_per_s = tokens_per_s;
  result.mean_latency_s = mean_s;
  result.p99_latency_s = p99_s;
  result.num_answered = 10;
  return result;
}

LadderReport some_report() {
  LadderReport report;
  report.model = "a<b>.gguf";
  report.architecture = "llama";
  report.workload.num_requests = 10;
  report.num_repeats = 3;
  RungReport first;
  first.rung.key = "baseline";
  first.rung.name = "f32, static";
  first.figures = figures(50.0, 4.0, 8.0);
  first.figures.padding_share = 0.5;
  first.batch = 8;
  first.static_trials = {{4, figures(40.0, 5.0, 9.0)}, {8, first.figures}};
  first.peak_bytes = {100 << 20};
  first.perplexity = 20.5;
  RungReport second;
  second.rung.key = "ranks";
  second.rung.name = "+ 2 ranks";
  second.rung.batching = Batching::kDynamic;
  second.figures = figures(125.0, 1.0, 2.0);
  second.figures.response_hit_rate = 0.25;
  second.num_ranks = second.stages = 2;
  second.peak_bytes = {40 << 20, 60 << 20};
  second.num_different = 0;
  report.rungs = {first, second};
  return report;
}

TEST(LadderReportTest, JsonHoldsEveryFigureAndItsRatioToTheFirstRung) {
  const auto object = nlohmann::json::parse(to_json(some_report()));
  EXPECT_EQ(object["workload"]["repeated"], 3);
  ASSERT_EQ(object["rungs"].size(), 2u);
  const auto &first = object["rungs"][0], &second = object["rungs"][1];
  EXPECT_EQ(first["batch"], 8);
  EXPECT_EQ(first["padding_waste"], 0.5);
  EXPECT_EQ(first["perplexity"], 20.5);
  EXPECT_EQ(first["ratio_to_first"]["tokens_per_s"], 1.0);
  EXPECT_EQ(first["static_batches"].size(), 2u);
  EXPECT_EQ(first["static_batches"][0]["batch"], 4);
  EXPECT_EQ(first["static_batches"][0]["tokens_per_s"], 40.0);
  EXPECT_EQ(second["batching"], "dynamic");
  EXPECT_EQ(second["ranks"], 2);
  EXPECT_EQ(second["ratio_to_first"]["tokens_per_s"], 2.5);
  EXPECT_EQ(second["ratio_to_first"]["p99_latency_s"], 0.25);
  EXPECT_EQ(second["ratio_to_before"]["mean_latency_s"], 0.25);
  EXPECT_EQ(first["ratio_to_before"]["tokens_per_s"], 1.0);
  EXPECT_EQ(second["peak_memory_bytes"], (std::vector<std::int64_t>{40 << 20, 60 << 20}));
  EXPECT_EQ(second["response_hit_rate"], 0.25);
  EXPECT_EQ(second["differing_outputs"], 0);
  EXPECT_FALSE(second.contains("batch"));
  EXPECT_FALSE(second.contains("perplexity"));
  EXPECT_FALSE(second.contains("static_batches"));
}

TEST(LadderReportTest, RowsTellTheLargestRankAndWhatHasNotChanged) {
  const LadderReport report = some_report();
  EXPECT_THAT(table_row(report, 0), HasSubstr("20.500"));
  const std::string row = table_row(report, 1);
  EXPECT_THAT(row, HasSubstr(" 2.50 "));
  EXPECT_THAT(row, HasSubstr(" 60.0 "));
  EXPECT_THAT(row, HasSubstr("25.0 %"));
  EXPECT_THAT(row, HasSubstr("same"));
}

TEST(LadderReportTest, OutputsThatDifferAreTold) {
  LadderReport report = some_report();
  EXPECT_THAT(table_row(report, 1), Not(HasSubstr("DIFFER")));
  report.rungs[1].num_different = 2;
  EXPECT_THAT(table_row(report, 1), HasSubstr("2 OUTPUTS DIFFER"));
}

TEST(LadderChartTest, HasABarForEachFigureOfEachRung) {
  const std::string svg = ladder_chart(some_report());
  std::size_t bars = 0;
  for (std::size_t at = svg.find("<rect x="); at != std::string::npos; at = svg.find("<rect x=", at + 1)) ++bars;
  EXPECT_EQ(bars, 3u * 2u);
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;.gguf"));
  EXPECT_THAT(svg, HasSubstr("width=\"56.0\""));   // 50 of 125 tokens/s, of a bar of 140
  EXPECT_THAT(svg, HasSubstr("width=\"140.0\""));  // the largest
}

}  // namespace
}  // namespace trireme::launch
