#include "runtime/worker/step_input_builder.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "runtime/kv_cache/chunk_layout.h"

namespace trireme::worker {
namespace {

using scheduler::BlockId;
using scheduler::SequenceId;

class StepInputBuilderTest : public testing::Test {
 protected:
  static kv_cache::KvCacheShape shape() {
    kv_cache::KvCacheShape shape;
    shape.layout = kv_cache::make_chunk_layout({512, 4}, 16).value();
    shape.chunk_bytes = 512;
    shape.num_kv_heads = 1;
    shape.layer_group = {0, 1};
    shape.num_blocks = {10, 10};
    return shape;
  }
  void SetUp() override {
    scheduler::StepPlan plan;
    plan.admitted.resize(2);
    plan.admitted[0].sequence = SequenceId(1);
    plan.admitted[1].sequence = SequenceId(2);
    plan.appended = {{SequenceId(1), 0, {BlockId(3), BlockId(5)}},
                     {SequenceId(1), 1, {BlockId(9), BlockId(8)}},
                     {SequenceId(2), 0, {BlockId(7)}},
                     {SequenceId(2), 1, {BlockId(0)}}};
    table_.apply(plan);
  }
  static scheduler::SequenceWork work(std::uint64_t id, std::int32_t first, std::vector<std::int32_t> tokens) {
    scheduler::SequenceWork work;
    work.sequence = SequenceId(id);
    work.first_position = first;
    work.tokens = std::move(tokens);
    return work;
  }
  kv_cache::KvCache cache_{shape()};
  SequenceTable table_{2};
};

TEST_F(StepInputBuilderTest, LaysTheRowsOfAllSequencesOneAfterTheOther) {
  scheduler::StepPlan plan;
  plan.work = {work(1, 2, {11, 12, 13}), work(2, 0, {21})};
  const BuiltStep step = build_step(plan, table_, cache_);
  EXPECT_EQ(step.input.token_ids, (std::vector<std::int32_t>{11, 12, 13, 21}));
  EXPECT_EQ(step.input.positions, (std::vector<std::int32_t>{2, 3, 4, 0}));
  EXPECT_EQ(step.input.groups[0].slots, (std::vector<std::int64_t>{3 * 4 + 2, 3 * 4 + 3, 5 * 4, 7 * 4}));
  EXPECT_EQ(step.input.groups[1].slots, (std::vector<std::int64_t>{9 * 4 + 2, 9 * 4 + 3, 8 * 4, 0}));
  ASSERT_EQ(step.input.groups[0].sequences.size(), 2u);
  EXPECT_EQ(step.input.groups[0].sequences[1].first_row, 3);
  EXPECT_EQ(step.input.groups[0].sequences[0].block_table[1], 5);
  EXPECT_EQ(step.work[1].first_row, 3);
}

TEST_F(StepInputBuilderTest, RefusesPositionsWithoutABlock) {
  scheduler::StepPlan plan;
  plan.work = {work(2, 3, {1, 2})};  // position 4 would need a second block
  EXPECT_THROW(build_step(plan, table_, cache_), base::CheckFailure);
}

TEST_F(StepInputBuilderTest, RefusesBlocksBeyondThePool) {
  scheduler::StepPlan append;
  append.appended = {{SequenceId(2), 0, {BlockId(10)}}, {SequenceId(2), 1, {BlockId(1)}}};
  table_.apply(append);
  scheduler::StepPlan plan;
  plan.work = {work(2, 3, {1, 2})};
  EXPECT_THROW(build_step(plan, table_, cache_), base::CheckFailure);
}

}  // namespace
}  // namespace trireme::worker
