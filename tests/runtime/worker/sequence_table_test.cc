#include "runtime/worker/sequence_table.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace trireme::worker {
namespace {

using scheduler::BlockId;
using scheduler::SequenceId;

scheduler::SequenceAdmission admission(std::uint64_t id, float repetition_penalty = 1.0f) {
  scheduler::SequenceAdmission admission;
  admission.sequence = SequenceId(id);
  admission.prompt_length = 2;
  admission.sampling.repetition_penalty = repetition_penalty;
  return admission;
}

scheduler::SequenceWork work(std::uint64_t id, std::int32_t first_position, std::vector<std::int32_t> tokens) {
  scheduler::SequenceWork work;
  work.sequence = SequenceId(id);
  work.first_position = first_position;
  work.tokens = std::move(tokens);
  return work;
}

TEST(SequenceTable, AppliesReleasesBeforeAdmissions) {
  SequenceTable table(1);
  scheduler::StepPlan plan;
  plan.admitted = {admission(1)};
  table.apply(plan);
  plan.released = {SequenceId(1)};
  table.apply(plan);  // preempted and admitted anew in one plan
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.advance(work(1, 0, {7})).next_position, 1);
}

TEST(SequenceTable, RefusesPlansThatDoNotFit) {
  SequenceTable table(1);
  scheduler::StepPlan admit;
  admit.admitted = {admission(1)};
  table.apply(admit);
  EXPECT_THROW(table.apply(admit), base::CheckFailure);
  scheduler::StepPlan release;
  release.released = {SequenceId(2)};
  EXPECT_THROW(table.apply(release), base::CheckFailure);
  scheduler::StepPlan append;
  append.appended = {{SequenceId(1), 1, {BlockId(0)}}};
  EXPECT_THROW(table.apply(append), base::CheckFailure) << "there is no group 1";
  table.advance(work(1, 0, {7, 8}));
  EXPECT_THROW(table.advance(work(1, 3, {9})), base::CheckFailure) << "position 2 is missing";
}

TEST(SequenceTable, StartsBehindACachedPrefix) {
  SequenceTable table(1);
  scheduler::StepPlan plan;
  plan.admitted = {admission(1)};
  table.apply(plan);
  EXPECT_EQ(table.advance(work(1, 40, {7})).next_position, 41);
}

TEST(SequenceTable, HistoryGrowsWhereSamplingNeedsItWithoutRepeats) {
  SequenceTable table(1);
  scheduler::StepPlan plan;
  plan.admitted = {admission(1, 1.5f), admission(2)};
  plan.admitted[0].history = {5, 6};
  table.apply(plan);
  EXPECT_EQ(table.advance(work(1, 0, {5, 6})).admission.history, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(table.advance(work(1, 2, {9})).admission.history, (std::vector<std::int32_t>{5, 6, 9}));
  EXPECT_TRUE(table.advance(work(2, 0, {5, 6})).admission.history.empty());
}

}  // namespace
}  // namespace trireme::worker
