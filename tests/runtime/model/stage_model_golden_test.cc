// The forward pass against golden logits, one stage, whole prompts and chunks of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/model/single_stage.h"
#include "tests/support/golden.h"

namespace trireme::model {
namespace {

constexpr float kTolerance = 2e-3f;

struct Variant {
  std::string model;
  std::string ops;  // "reference" or an instruction set
  std::int32_t block_tokens;
};

std::vector<Variant> variants() {
  std::vector<std::string> ops = {"reference"};
  for (const auto set : kernels::available_instruction_sets()) ops.emplace_back(kernels::to_string(set));
  std::vector<Variant> all;
  for (const std::string& model : test::golden_decoders()) {
    for (const std::string& name : ops) {
      for (const std::int32_t block_tokens : {0, 8}) all.push_back({model, name, block_tokens});
    }
  }
  return all;
}

class StageModelGoldenTest : public testing::TestWithParam<Variant> {
 protected:
  test::SingleStage stage_{test::golden_model(GetParam().model), GetParam().ops, GetParam().block_tokens};
};

TEST_P(StageModelGoldenTest, GivesTheGoldenLogits) {
  for (const test::GoldenCase& golden : test::golden_cases(GetParam().model)) {
    const std::vector<float> logits = stage_.last_logits(golden.prompt_ids, golden.prompt_ids.size());
    ASSERT_EQ(logits.size(), golden.last_logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], golden.last_logits[i], kTolerance)
          << "prompt of " << golden.prompt_ids.size() << ", token " << i;
    }
  }
}

TEST_P(StageModelGoldenTest, ChunksOfAPromptChangeNoBit) {
  if (GetParam().ops == "reference") GTEST_SKIP() << "bit equality is a promise of the CPU back end's kernels alone";
  for (const test::GoldenCase& golden : test::golden_cases(GetParam().model)) {
    const std::vector<float> whole = stage_.last_logits(golden.prompt_ids, golden.prompt_ids.size());
    for (const std::size_t chunk : {1, 3, 16}) EXPECT_EQ(stage_.last_logits(golden.prompt_ids, chunk), whole) << chunk;
  }
}

std::string variant_name(const testing::TestParamInfo<Variant>& info) {
  const std::string name = info.param.model + "_" + info.param.ops;
  return test::parameter_name(name + "_block" + std::to_string(info.param.block_tokens));
}

INSTANTIATE_TEST_SUITE_P(Models, StageModelGoldenTest, testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace trireme::model
