#include "runtime/encoder/text_encoder.h"

#include <gtest/gtest.h>

#include "tests/runtime/encoder/encoder_golden.h"

namespace trireme::encoder {
namespace {

TEST(TextEncoder, ScoresTextsAsTheGoldenOnes) {
  auto encoder = TextEncoder::open(test::golden_model("bert-classifier"), {.weights = kernels::WeightFormat::kF32});
  ASSERT_TRUE(encoder.ok()) << encoder.error().message;
  EXPECT_EQ((*encoder)->description().labels, (std::vector<std::string>{"safe", "unsafe"}));
  std::vector<std::string> texts;
  for (const auto& golden : test::encoder_cases()) texts.push_back(golden.text);
  const auto scores = (*encoder)->classify(texts);
  ASSERT_TRUE(scores.ok()) << scores.error().message;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto golden = test::encoder_cases()[i];
    for (std::size_t label = 0; label < 2; ++label) {
      EXPECT_NEAR((*scores)[i].logits[label], golden.logits[label], 2e-3f) << golden.text;
      EXPECT_NEAR((*scores)[i].probabilities[label], golden.probabilities[label], 1e-3f) << golden.text;
    }
  }
}

TEST(TextEncoder, IdsOutsideTheVocabularyAndNoneAtAllAreRefused) {
  auto encoder = TextEncoder::open(test::golden_model("bert-classifier"), {}).value();
  for (const EncoderModel::TokenIds& ids : {EncoderModel::TokenIds{}, {30522}, {-1}, EncoderModel::TokenIds(129, 5)}) {
    EXPECT_FALSE(encoder->embed_ids(std::span(&ids, 1)).ok());
  }
}

TEST(TextEncoder, ADecoderIsRefusedInOneLine) {
  const auto encoder = TextEncoder::open(test::golden_model("llama"), {});
  ASSERT_FALSE(encoder.ok());
  EXPECT_NE(encoder.error().message.find("no encoder"), std::string::npos) << encoder.error().message;
}

}  // namespace
}  // namespace trireme::encoder
