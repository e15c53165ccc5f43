// From finished requests to rows, progress and report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launch/batch/batch_report.h"
#include "launch/batch/output_row.h"
#include "launch/batch/progress.h"
#include "launch/batch/stop_policy.h"
#include "launch/batch/time_histogram.h"
#include "tests/support/golden.h"

namespace trireme::launch {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::HasSubstr;
using TimePoint = std::chrono::steady_clock::time_point;

engine::Generation choice(const std::string& text) {
  engine::Generation result;
  result.text = text;
  result.tokens.resize(2);
  result.finish_reason = scheduler::FinishReason::kStop;
  return result;
}

scheduler::Request request() {
  scheduler::Request request;
  request.prompt = {1, 2, 3};
  request.sampling.seed = 77;
  return request;
}

// The rows of a job with the model "boat".
const RowContext& boat() {
  static const auto kTokenizer = tokenizer::Tokenizer::from_path(test::golden_model("llama")).value();
  static const RowContext kContext{"boat", 5, *kTokenizer};
  return kContext;
}

const RowIdentity kPlainLine{17, BatchForm::kPlain, std::string("a\n\"b\""), RequestForm::kPlain, ""};
const RowIdentity kOpenAiLine{17, BatchForm::kOpenAi, std::string("a"), RequestForm::kChat, "m"};

TEST(OutputRow, APlainRowBeginsWithItsLine) {
  const std::string row = result_row(boat(), kPlainLine, request(), {choice("hi\n")});
  EXPECT_EQ(row.find('\n'), std::string::npos);
  EXPECT_EQ(line_of_row(row), 17u);
  EXPECT_TRUE(is_whole_row(row));
  EXPECT_FALSE(is_error_row(row));
  const json object = json::parse(row);
  EXPECT_EQ(object["id"], "a\n\"b\"");
  EXPECT_EQ(object["text"], "hi\n");
  EXPECT_EQ(object["seed"], 77);
  EXPECT_EQ(object["usage"]["total_tokens"], 5);
}

TEST(OutputRow, AnOpenAiRowHasExactlyItsFields) {
  const json object = json::parse(result_row(boat(), kOpenAiLine, request(), {choice("hi")}));
  EXPECT_EQ(object.size(), 4u);
  EXPECT_EQ(object["id"], "batch_req_17");
  EXPECT_EQ(object["custom_id"], "a");
  EXPECT_TRUE(object["error"].is_null());
  EXPECT_EQ(object["response"].size(), 3u);
  EXPECT_EQ(object["response"]["status_code"], 200);
  EXPECT_EQ(object["response"]["body"]["model"], "m");
  EXPECT_EQ(object["response"]["body"]["choices"][0]["message"]["content"], "hi");
}

TEST(OutputRow, ErrorsAreToldInTheFormOfTheLine) {
  const std::string plain = error_row(kPlainLine, {"n", "n: is wrong"});
  EXPECT_EQ(line_of_row(plain), 17u);
  EXPECT_TRUE(is_error_row(plain));
  EXPECT_EQ(json::parse(plain)["error"]["field"], "n");
  const std::string openai = error_row(kOpenAiLine, {"n", "n: is wrong"});
  EXPECT_EQ(line_of_row(openai), 17u);
  EXPECT_TRUE(is_error_row(openai));
  EXPECT_EQ(json::parse(openai)["response"]["status_code"], 400);
  EXPECT_EQ(json::parse(openai)["response"]["body"]["error"]["param"], "n");
  EXPECT_FALSE(is_error_row(result_row(boat(), kOpenAiLine, request(), {choice("hi")})));
}

TEST(OutputRow, LogitsThatAreNotFiniteMakeAnErrorRow) {
  engine::Generation broken = choice("");
  broken.finish_reason = scheduler::FinishReason::kNonFinite;
  for (const RowIdentity& identity : {kPlainLine, kOpenAiLine}) {
    const std::string row = result_row(boat(), identity, request(), {choice("hi"), broken});
    EXPECT_TRUE(is_error_row(row));
    EXPECT_THAT(row, HasSubstr("not finite"));
  }
}

TEST(OutputRow, WhatIsNoRowIsNotTakenForOne) {
  for (const char* text : {"", "{}", "{\"line\":", "{\"line\":x,", "{\"line\":5", "{\"line\":5}", "{\"line\":-5,",
                           "{\"line\":99999999999999999999,", "{\"id\":\"batch_req_5,", "{\"id\":\"x\""}) {
    EXPECT_EQ(line_of_row(text), std::nullopt) << text;
  }
  EXPECT_FALSE(is_whole_row("{\"line\":5,\"id\":1"));
  EXPECT_FALSE(is_whole_row(std::string("{\"line\":5,\"id\":1}\0\0", 19)));
}

TEST(TimeHistogram, PercentilesAreWithinOnePercent) {
  TimeHistogram times;
  EXPECT_EQ(times.percentile(50), 0.0);
  for (int i = 1; i <= 1000; ++i) times.add(i * 1e-3);
  EXPECT_NEAR(times.percentile(50), 0.5, 0.01);
  EXPECT_NEAR(times.percentile(90), 0.9, 0.01);
  EXPECT_NEAR(times.percentile(99), 0.99, 0.01);
  EXPECT_NEAR(times.mean(), 0.5005, 1e-6);
  times.add(0.0);
  times.add(1e12);
  EXPECT_EQ(times.count(), 1002u);
}

TEST(Progress, TellsRateAndTimeLeft) {
  std::ostringstream stream;
  const TimePoint start{};
  ProgressPoint point;
  point.num_done = 100;
  Progress progress(stream, Progress::Style::kLines, start, point);
  EXPECT_FALSE(progress.is_due(start + seconds(9)));
  EXPECT_TRUE(progress.is_due(start + seconds(10)));
  point = {1000, 120, 3, 5000, 32, 0.45};
  progress.show(start + seconds(10), point);
  EXPECT_EQ(stream.str(), "120/1000 lines (3 errors), 500 tokens/s, KV 45 %, 32 running, 7 min 20 s left\n");
  EXPECT_FALSE(progress.is_due(start + seconds(19)));
}

TEST(Progress, OnATerminalTheLineIsDrawnOver) {
  std::ostringstream stream;
  Progress progress(stream, Progress::Style::kRedrawn, TimePoint{}, {});
  progress.show(TimePoint{} + seconds(1), {10, 1, 0, 123456, 1, 0.0});
  progress.show(TimePoint{} + seconds(2), {10, 2, 0, 123456, 1, 0.0});
  progress.finish();
  const std::string text = stream.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 2);
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(StopPolicy, DrainsBeforeTheTimeLimit) {
  const TimePoint start{};
  const StopPolicy policy(start, seconds(100), seconds(10));
  EXPECT_EQ(policy.phase(start + seconds(89)), StopPolicy::Phase::kRunning);
  EXPECT_EQ(policy.phase(start + seconds(90)), StopPolicy::Phase::kDraining);
  EXPECT_EQ(policy.phase(start + seconds(100)), StopPolicy::Phase::kStopped);
  const StopPolicy tight(start, seconds(10), seconds(60));
  EXPECT_EQ(tight.phase(start + seconds(4)), StopPolicy::Phase::kRunning);
  EXPECT_EQ(tight.phase(start + seconds(5)), StopPolicy::Phase::kDraining);
}

TEST(StopPolicy, SignalsDrainOrStop) {
  const TimePoint start{};
  StopPolicy drained(start, std::nullopt, seconds(10));
  EXPECT_EQ(drained.phase(start + seconds(1000000)), StopPolicy::Phase::kRunning);
  drained.on_signal(StopSignal::kDrain, start + seconds(1));
  EXPECT_EQ(drained.phase(start + seconds(1)), StopPolicy::Phase::kDraining);
  EXPECT_EQ(drained.phase(start + seconds(11)), StopPolicy::Phase::kStopped);
  drained.on_signal(StopSignal::kDrain, start + seconds(2));
  EXPECT_EQ(drained.phase(start + seconds(2)), StopPolicy::Phase::kStopped);
  StopPolicy stopped(start, std::nullopt, seconds(10));
  stopped.on_signal(StopSignal::kStop, start + seconds(1));
  EXPECT_EQ(stopped.phase(start + seconds(1)), StopPolicy::Phase::kStopped);
}

TEST(BatchReport, HasThroughputTimesAndRanks) {
  BatchTotals totals;
  totals.num_lines = 10;
  totals.num_done_before = 2;
  totals.num_completed = 5;
  totals.num_errors = 1;
  totals.output_tokens = 50;
  totals.prompt_tokens = 100;
  totals.seconds = 2.0;
  totals.latency.add(1.0);
  RankUse rank;
  rank.host = "node1";
  rank.busy_s = 3.0;
  rank.wait_s = 1.0;
  rank.memory = {64 << 20, 128 << 20};
  const json object = json::parse(report_json(totals, {rank}));
  EXPECT_EQ(object["unfinished"], 2);
  EXPECT_EQ(object["output_throughput"], 25.0);
  EXPECT_EQ(object["total_token_throughput"], 75.0);
  EXPECT_NEAR(object["p99_e2el_ms"].get<double>(), 1000.0, 10.0);
  EXPECT_EQ(object["ranks"][0]["bubble"], 0.25);
  EXPECT_EQ(object["ranks"][0]["peak_private_bytes"], 64 << 20);
  const std::string text = report_text(totals, {rank});
  for (const char* part : {"5 requests in 2.00 s", "1 error rows", "2 lines left", "25.0 output tokens/s",
                           "bubble 25 %", "peak memory 64 MiB private"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace trireme::launch
