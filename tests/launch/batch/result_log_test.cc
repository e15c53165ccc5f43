// What a batch job finds when it starts again: output and journal in every state that a kill can leave them in.
#include "launch/batch/result_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "launch/batch/output_row.h"
#include "launch/text_input.h"
#include "tests/support/temporary_folder.h"

namespace trireme::launch {
namespace {

using testing::HasSubstr;

class ResultLogTest : public testing::Test {
 protected:
  base::Result<ResultLog> open(Existing existing = Existing::kGoOn) {
    return ResultLog::open(output_, job_, kNumLines, existing, 1700000000);
  }
  static std::string row(std::uint64_t line) {
    return error_row({line, BatchForm::kPlain, {}, {}, {}}, {"x", "x: is wrong"});
  }
  // A job that wrote and synced the rows of these lines.
  void write_rows(std::initializer_list<std::uint64_t> lines) {
    auto log = open().value();
    for (const std::uint64_t line : lines) ASSERT_TRUE(log.append(line, row(line)).ok());
    ASSERT_TRUE(log.sync().ok());
  }
  std::string text() const { return read_text(output_).value(); }
  void replace(const std::string& text) const { folder_.write("out.jsonl", text); }
  void expect_refused(const std::string& part) {
    const auto log = open();
    ASSERT_FALSE(log.ok());
    EXPECT_THAT(log.error().message, HasSubstr(output_));
    EXPECT_THAT(log.error().message, HasSubstr(part));
  }

  static constexpr std::uint64_t kNumLines = 10;
  const test::TemporaryFolder folder_;
  const std::string output_ = (folder_ / "out.jsonl").string();
  JobDescription job_{100, 1, 2, {{"--seed", "0"}}};
};

TEST_F(ResultLogTest, GoesOnWithWhatIsMissing) {
  write_rows({3, 1});
  const auto log = open();
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->done().count(), 2u);
  EXPECT_TRUE(log->done().contains(1));
  EXPECT_FALSE(log->done().contains(2));
  EXPECT_TRUE(log->done().contains(3));
  EXPECT_EQ(log->num_error_rows(), 2u);
  EXPECT_EQ(log->created(), 1700000000);
  EXPECT_EQ(log->durable().last_line, 1u);
}

TEST_F(ResultLogTest, ATailTornAtAnyByteIsCutOff) {
  write_rows({3, 1});
  const std::string whole = text();
  const std::string third = row(5) + "\n";
  for (std::size_t length = 1; length < third.size(); ++length) {
    replace(whole + third.substr(0, length));
    const auto log = open();
    ASSERT_TRUE(log.ok()) << log.error().message;
    EXPECT_EQ(log->done().count(), 2u);
    EXPECT_EQ(log->num_dropped_bytes(), length);
    EXPECT_EQ(text(), whole);
  }
  replace(whole + third);
  EXPECT_EQ(open()->done().count(), 3u);
}

TEST_F(ResultLogTest, WhatACrashLeavesBehindDurableRowsIsCutOff) {
  write_rows({3});
  const std::string whole = text();
  const std::string damaged = std::string(100, '\0') + "\n" + row(5) + "\n";
  replace(whole + damaged);
  const auto log = open();
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->done().count(), 1u);
  EXPECT_EQ(text(), whole);
}

TEST_F(ResultLogTest, DurableRowsThatAreDamagedOrGoneAreRefused) {
  write_rows({3, 1});
  const std::string whole = text();
  replace(whole.substr(0, whole.size() - 1));
  expect_refused("row 2 ");
  replace("x" + whole.substr(1));
  expect_refused("row 1 ");
  replace(row(3) + "\n" + row(3) + "\n");
  expect_refused("row 2 ");
  replace(row(3) + "\n" + row(9) + "\n");
  EXPECT_TRUE(open().ok());  // of the same length, and a row: no torn write does that
  replace("");
  expect_refused("row 1 ");
}

TEST_F(ResultLogTest, AnotherJobIsRefusedByName) {
  write_rows({3});
  const JobDescription same = job_;
  job_.input_fingerprint = 9;
  expect_refused("another input");
  job_ = same;
  job_.model_fingerprint = 9;
  expect_refused("another model");
  job_ = same;
  job_.settings = {{"--seed", "1"}};
  expect_refused("--seed was 0 and is now 1");
  job_.settings = {};
  expect_refused("--seed was 0");
  EXPECT_TRUE(open(Existing::kOverwrite).ok());
  EXPECT_EQ(text(), "");
}

TEST_F(ResultLogTest, AJobThatHasDoneNothingYetMayChange) {
  write_rows({});
  job_.input_fingerprint = 9;
  EXPECT_TRUE(open().ok());
}

TEST_F(ResultLogTest, AFileOfSomebodyElseIsLeftAlone) {
  replace("dear diary\n");
  expect_refused("no journal");
  EXPECT_EQ(text(), "dear diary\n");
}

TEST_F(ResultLogTest, ADamagedJournalIsRefusedAndATornRecordOfItIsNot) {
  write_rows({3});
  const std::string journal = Journal::path_for(output_);
  const std::string good = read_text(journal).value();
  std::ofstream(journal, std::ios::trunc) << good.substr(0, good.size() - 5);
  EXPECT_EQ(open()->done().count(), 1u);
  std::ofstream(journal, std::ios::trunc) << good.substr(5);
  const auto log = open();
  ASSERT_FALSE(log.ok());
  EXPECT_THAT(log.error().message, HasSubstr(journal));
}

TEST_F(ResultLogTest, OneJobAtATimeWritesAnOutput) {
  const auto first = open();
  ASSERT_TRUE(first.ok());
  expect_refused("another batch job");
}

TEST_F(ResultLogTest, AFolderOrAMissingFolderIsRefused) {
  EXPECT_FALSE(ResultLog::open(folder_.path().string(), job_, kNumLines, Existing::kGoOn, 0).ok());
  EXPECT_FALSE(ResultLog::open((folder_ / "none/out.jsonl").string(), job_, kNumLines, Existing::kGoOn, 0).ok());
}

}  // namespace
}  // namespace trireme::launch
