// The encoder's forward pass against golden logits, and what must not change a bit of it.
#include "runtime/encoder/encoder_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu_ops.h"
#include "tests/runtime/encoder/encoder_golden.h"

namespace trireme::encoder {
namespace {

std::vector<std::string> backends() {
  std::vector<std::string> names = {"reference"};
  for (const auto set : kernels::available_instruction_sets()) names.emplace_back(kernels::to_string(set));
  return names;
}

class EncoderModelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto checkpoint = checkpoint::Checkpoint::open(test::golden_model("bert-classifier")).value();
    const auto description = describe_encoder(*checkpoint).value();
    auto weights = load_encoder_weights(*checkpoint, description, kernels::WeightFormat::kF32, pool_);
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    const auto set = kernels::instruction_set_from_string(GetParam());
    ops_ = set ? kernels::make_cpu_ops(*set, pool_) : kernels::make_reference_ops();
    model_ = std::make_unique<EncoderModel>(description, std::move(*weights), *ops_);
    for (const auto& golden : cases_) texts_.push_back(golden.ids);
  }
  const std::vector<test::EncoderCase> cases_ = test::encoder_cases();
  std::vector<EncoderModel::TokenIds> texts_;
  kernels::ThreadPool pool_{2};
  std::unique_ptr<kernels::Ops> ops_;
  std::unique_ptr<EncoderModel> model_;
};

TEST_P(EncoderModelTest, GivesTheGoldenLogits) {
  const auto logits = model_->classify(texts_);
  ASSERT_EQ(logits.size(), cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    for (std::size_t label = 0; label < 2; ++label) EXPECT_NEAR(logits[i][label], cases_[i].logits[label], 2e-3f) << i;
  }
}

TEST_P(EncoderModelTest, OtherTextsOfABatchChangeNoBit) {
  if (GetParam() == "reference") GTEST_SKIP() << "bit equality is a promise of the CPU back end's kernels alone";
  std::vector<EncoderModel::TokenIds> many;  // more than are computed at once
  for (int round = 0; round < 100; ++round) many.insert(many.end(), texts_.begin(), texts_.end());
  const auto together = model_->embed(many);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto alone = model_->embed(std::span(&texts_[i], 1));
    EXPECT_EQ(together[i], alone[0]) << i;
    EXPECT_EQ(together[many.size() - texts_.size() + i], alone[0]) << i;
  }
}

TEST_P(EncoderModelTest, EmbeddingsHaveLengthOne) {
  for (const auto& embedding : model_->embed(texts_)) {
    double squares = 0.0;
    for (const float value : embedding) squares += double{value} * value;
    EXPECT_NEAR(squares, 1.0, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, EncoderModelTest, testing::ValuesIn(backends()),
                         [](const auto& variant) { return test::parameter_name(variant.param); });

}  // namespace
}  // namespace trireme::encoder
