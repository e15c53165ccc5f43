// The same model out of a GGUF file and out of a Hugging Face directory.
#include <gtest/gtest.h>

#include "tests/runtime/model/single_stage.h"
#include "tests/support/gguf_conversion.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace trireme::model {
namespace {

// Scaled rotary frequencies come as divisors, which round once more.
constexpr float kTolerance = 1e-4f;

class GgufModelTest : public testing::TestWithParam<std::string> {};

TEST_P(GgufModelTest, GivesTheLogitsOfTheHuggingFaceDirectory) {
  const test::TemporaryFolder folder;
  test::write_as_gguf(GetParam(), folder / "model.gguf");
  const std::string ops(kernels::to_string(kernels::available_instruction_sets().back()));
  test::SingleStage from_gguf(folder / "model.gguf", ops);
  test::SingleStage from_directory(test::golden_model(GetParam()), ops);
  EXPECT_EQ(from_gguf.description().window_groups(), from_directory.description().window_groups());
  for (const test::GoldenCase& golden : test::golden_cases(GetParam())) {
    const auto expected = from_directory.last_logits(golden.prompt_ids, golden.prompt_ids.size());
    const auto actual = from_gguf.last_logits(golden.prompt_ids, golden.prompt_ids.size());
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], kTolerance) << "token " << i;
  }
}

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const std::string& name : test::golden_decoders()) {
    if (test::gguf_knows(name)) names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, GgufModelTest, testing::ValuesIn(models()),
                         [](const auto& variant) { return test::parameter_name(variant.param); });

}  // namespace
}  // namespace trireme::model
