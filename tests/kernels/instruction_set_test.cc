#include <gtest/gtest.h>

#include "base/check.h"
#include "kernels/cpu_ops.h"

namespace trireme::kernels {
namespace {

TEST(InstructionSet, NamesCanBeReadBack) {
  for (const InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    EXPECT_EQ(instruction_set_from_string(to_string(set)), set);
  }
  EXPECT_EQ(instruction_set_from_string("reference"), std::nullopt);
  EXPECT_EQ(instruction_set_from_string(""), std::nullopt);
}

TEST(InstructionSet, AvailableOnesAreAPrefixAndCanBeMade) {
  ThreadPool pool(1);
  const auto sets = available_instruction_sets();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(sets[i]), i);
    EXPECT_EQ(make_cpu_ops(sets[i], pool)->name(), to_string(sets[i]));
  }
  EXPECT_EQ(make_reference_ops()->name(), "reference");
}

TEST(Ops, RefuseBadShapes) {
  const auto ops = make_reference_ops();
  const std::int32_t id = 7;
  const float weight = 0;
  float output = 0;
  EmbedArgs embed{&id, {{base::DType::kF32, 7, 1}, reinterpret_cast<const std::byte*>(&weight)}, 1.0f, &output, 1};
  EXPECT_THROW(ops->embed(embed, {}), base::CheckFailure);
  EXPECT_THROW(ops->softcap({&output, 1, 0.0f}, {}), base::CheckFailure);
  RopeArgs rope{&output, 1, &weight, 1, 1, 1, 2};
  EXPECT_THROW(ops->rope(rope, {}), base::CheckFailure);
}

}  // namespace
}  // namespace trireme::kernels
