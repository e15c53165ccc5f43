#include "scheduler/step_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace trireme::scheduler {
namespace {

StepPlan full_plan() {
  StepPlan plan;
  plan.epoch = 7;
  plan.replica = 2;
  plan.step = 1ull << 40;
  plan.released = {SequenceId{3}, SequenceId{1ull << 33}};
  SequenceAdmission admission;
  admission.sequence = SequenceId{5};
  admission.choice_index = 1;
  admission.prompt_length = 3;
  admission.adapter = 5;
  admission.sampling = {0.7f, 40, 0.9f, 0.05f, 1.1f, 0.2f, -0.3f, {{17, -100.0f}, {4, 2.5f}}, 99, 5};
  admission.history = {1, 2, 3};
  plan.admitted = {admission, {}};
  plan.appended = {{SequenceId{5}, 0, {BlockId{4}, BlockId{9}}}, {SequenceId{5}, 1, {kNoBlock, BlockId{2}}}};
  plan.copies = {{1, BlockId{8}, BlockId{2}, 3}};
  plan.work = {{SequenceId{5}, 0, {10, 11, 12}, true, 1, {12}}, {SequenceId{6}, 40, {7}, false, 0, {}}};
  return plan;
}

StepResult full_result() {
  StepResult result;
  result.epoch = 7;
  result.replica = 2;
  result.step = 12;
  result.sampled = {{SequenceId{5}, 42, -0.5f, {{42, -0.5f}, {1, -1.5f}}, false}, {SequenceId{6}, 0, 0.0f, {}, true}};
  result.scored = {{SequenceId{5}, 1, {-1.0f, -2.0f}, {{{3, -0.1f}}, {}}, false}};
  result.timing = {3, 64, 100, 20, 7, 5, 1ull << 33};
  return result;
}

template <typename Message>
base::Result<Message> decode(std::span<const std::byte> bytes);
template <>
base::Result<StepPlan> decode<StepPlan>(std::span<const std::byte> bytes) {
  return decode_step_plan(bytes);
}
template <>
base::Result<StepResult> decode<StepResult>(std::span<const std::byte> bytes) {
  return decode_step_result(bytes);
}

template <typename Message>
void expect_round_trip(const Message& message) {
  const base::Result<Message> decoded = decode<Message>(encode(message));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_TRUE(*decoded == message);
}

TEST(StepPlanTest, RoundTripKeepsEveryField) {
  expect_round_trip(full_plan());
  expect_round_trip(full_result());
  expect_round_trip(StepPlan{});
  expect_round_trip(StepResult{});
  StepPlan last;
  last.shutdown = true;
  expect_round_trip(last);
}

TEST(StepPlanTest, CountsRowsOverAllWork) {
  EXPECT_EQ(full_plan().num_rows(), 4);
}

template <typename Message>
void expect_truncations_are_refused(const Message& message) {
  const std::vector<std::byte> bytes = encode(message);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode<Message>(std::span(bytes).first(size)).ok()) << size;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode<Message>(longer).ok());
}

TEST(StepPlanTest, RefusesEveryTruncationAndTrailingBytes) {
  expect_truncations_are_refused(full_plan());
  expect_truncations_are_refused(full_result());
}

// Whatever decodes must encode to the same bytes again: no field is ignored.
template <typename Message>
void expect_mutations_are_harmless(const Message& message) {
  const std::vector<std::byte> original = encode(message);
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes = original;
    for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    const base::Result<Message> decoded = decode<Message>(bytes);
    if (!decoded.ok()) continue;
    EXPECT_EQ(encode(*decoded), bytes);
  }
}

TEST(StepPlanTest, FlippedBytesNeverCrashOrChangeMeaningSilently) {
  expect_mutations_are_harmless(full_plan());
  expect_mutations_are_harmless(full_result());
}

// Every place in turn claims an array of four billion elements.
template <typename Message>
void expect_huge_lengths_are_refused(const Message& message) {
  const std::vector<std::byte> original = encode(message);
  const std::uint32_t huge = 0xffffffffu;
  std::size_t refused = 0;
  for (std::size_t at = 0; at + sizeof(huge) <= original.size(); ++at) {
    std::vector<std::byte> bytes = original;
    std::memcpy(bytes.data() + at, &huge, sizeof(huge));
    if (!decode<Message>(bytes).ok()) ++refused;
  }
  EXPECT_GT(refused, original.size() / 5);
}

TEST(StepPlanTest, RefusesClaimsOfHugeArrays) {
  expect_huge_lengths_are_refused(full_plan());
  expect_huge_lengths_are_refused(full_result());
}

TEST(StepPlanTest, RefusesWorkThatContradictsItself) {
  const auto refused = [](const SequenceWork& work) {
    StepPlan plan;
    plan.work = {work};
    return !decode_step_plan(encode(plan)).ok();
  };
  EXPECT_TRUE(refused({SequenceId{1}, 0, {}, true, 0, {}}));           // no tokens
  EXPECT_TRUE(refused({SequenceId{1}, -1, {5}, true, 0, {}}));         // before the first position
  EXPECT_TRUE(refused({SequenceId{1}, 0, {5, 6}, false, 1, {6, 7}}));  // scores more rows than it computes
  EXPECT_TRUE(refused({SequenceId{1}, 0, {5, 6}, false, -1, {6}}));
  EXPECT_FALSE(refused({SequenceId{1}, 0, {5, 6}, false, 0, {6, 7}}));
}

TEST(StepPlanTest, DoesNotTakeAResultForAPlan) {
  EXPECT_FALSE(decode_step_plan(encode(full_result())).ok());
  EXPECT_FALSE(decode_step_result(encode(full_plan())).ok());
}

}  // namespace
}  // namespace trireme::scheduler
