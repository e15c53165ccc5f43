// One model, its weights stored as BF16 and as F16: every value of the one is a value of the other.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/runtime/model/single_stage.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace trireme::model {
namespace {

using checkpoint::Checkpoint;
using checkpoint::TensorType;

// To 8 significant bits, as BF16 has them; 0 where F16 could not hold them.
float round_for_both(float value) {
  if (std::abs(value) < 0x1p-14f) return 0;
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(fraction * 256), exponent - 8);
}

void write_rounded(const Checkpoint& source, TensorType type, const std::filesystem::path& folder) {
  std::vector<test::StoredTensor> tensors;
  for (const checkpoint::TensorInfo& tensor : source.tensors()) {
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) elements *= size;
    std::vector<float> values(static_cast<std::size_t>(elements));
    Checkpoint::read_elements(tensor, 0, elements, values.data());
    for (float& value : values) value = round_for_both(value);
    tensors.push_back(test::make_tensor(tensor.name, type, tensor.shape, values));
  }
  test::write_hugging_face(folder, source.metadata(), tensors);
}

TEST(FloatTypesTest, Bf16AndF16FilesGiveTheSameLogits) {
  const test::TemporaryFolder folder;
  const auto source = Checkpoint::open(test::golden_model("llama"));
  ASSERT_TRUE(source.ok());
  write_rounded(**source, TensorType::kBF16, folder.path() / "bf16");
  write_rounded(**source, TensorType::kF16, folder.path() / "f16");
  const std::vector<std::int32_t> prompt = {5, 6, 7, 8, 9};
  const auto logits = [&](const std::string& name) {
    return test::SingleStage(folder.path() / name, "avx2").last_logits(prompt, prompt.size());
  };
  const std::vector<float> expected = logits("f16");
  EXPECT_EQ(logits("bf16"), expected);
  EXPECT_NE(test::SingleStage(test::golden_model("llama"), "avx2").last_logits(prompt, prompt.size()), expected);
}

}  // namespace
}  // namespace trireme::model
