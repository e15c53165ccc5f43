#include <gtest/gtest.h>

#include <algorithm>

#include "base/check.h"
#include "kernels/cpu_ops.h"

namespace trireme::kernels {
namespace {

TEST(InstructionSet, NamesCanBeReadBack) {
  for (const InstructionSet set : kAllInstructionSets) {
    EXPECT_EQ(instruction_set_from_string(to_string(set)), set);
  }
  EXPECT_EQ(instruction_set_from_string("reference"), std::nullopt);
  EXPECT_EQ(instruction_set_from_string(""), std::nullopt);
}

TEST(InstructionSet, AvailableOnesAscendAndCanBeMade) {
  ThreadPool pool(1);
  const auto sets = available_instruction_sets();
  EXPECT_TRUE(std::is_sorted(sets.begin(), sets.end()));
  for (const InstructionSet set : sets) EXPECT_EQ(make_cpu_ops(set, pool)->name(), to_string(set));
  EXPECT_EQ(make_reference_ops()->name(), "reference");
}

TEST(Ops, RefuseBadShapes) {
  const auto ops = make_reference_ops();
  const std::int32_t id = 7;
  const float weight = 0;
  float output = 0;
  EmbedArgs embed{&id, {{WeightFormat::kF32, 7, 1}, reinterpret_cast<const std::byte*>(&weight)}, 1.0f, &output, 1};
  EXPECT_THROW(ops->embed(embed, {}), base::CheckFailure);
  EXPECT_THROW(ops->softcap({&output, 1, 0.0f}, {}), base::CheckFailure);
  RopeArgs rope{&output, 1, &weight, 1, 1, 1, 2};
  EXPECT_THROW(ops->rope(rope, {}), base::CheckFailure);
}

}  // namespace
}  // namespace trireme::kernels
