// Two real models' tokenizers against the reference's ids, exactly. The models are found in the folder that the
// environment variable TRIREME_TEST_MODELS names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/tokenizer/detokenizer.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {
namespace {

struct RealModel {
  std::string name;
  std::string file;    // of the model
  std::string golden;  // of the expected values
  TokenId bos;
  std::vector<TokenId> end_of_generation;
  std::vector<TokenId> hello;  // ids of "Hello world" as a prompt
};

void PrintTo(const RealModel& model, std::ostream* stream) {
  *stream << model.name;
}

class RealModelTest : public ::testing::TestWithParam<RealModel> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TRIREME_TEST_MODELS");
    if (folder == nullptr) GTEST_SKIP() << "TRIREME_TEST_MODELS is not set";
    const std::filesystem::path path = std::filesystem::path(folder) / GetParam().file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " does not exist";
    auto checkpoint = checkpoint::Checkpoint::open(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    auto tokenizer = Tokenizer::from_checkpoint(**checkpoint);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    tokenizer_ = std::move(*tokenizer);
  }

  static nlohmann::json golden_cases() {
    std::ifstream stream(std::string(TRIREME_TEST_DATA) + "/golden/" + GetParam().golden);
    return nlohmann::json::parse(stream).at("tokenizer");
  }

  std::vector<TokenId> encode(const std::string& text, EncodeOptions options) const {
    const auto ids = tokenizer_->encode(text, options);
    EXPECT_TRUE(ids.ok());
    return ids.ok() ? *ids : std::vector<TokenId>{};
  }

  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(RealModelTest, EncodesAsTheReference) {
  const nlohmann::json cases = golden_cases();
  ASSERT_GT(cases.size(), 40u);
  for (const nlohmann::json& example : cases) {
    const std::string text = example.at("text");
    const std::vector<TokenId> ids = example.at("ids");
    const std::vector<TokenId> ids_as_text = example.at("ids_special_as_text");
    EXPECT_EQ(encode(text, {.add_special = false}), ids) << text;
    EXPECT_EQ(encode(text, {.special = SpecialTokens::kAsText, .add_special = false}), ids_as_text) << text;
  }
}

TEST_P(RealModelTest, DecodesAsTheReference) {
  for (const nlohmann::json& example : golden_cases()) {
    const std::vector<TokenId> ids = example.at("ids");
    EXPECT_EQ(tokenizer_->decode(ids), example.at("decoded").get<std::string>());
    Detokenizer detokenizer(*tokenizer_, {}, false);
    std::string text;
    for (const TokenId id : ids) text += detokenizer.push(id);
    text += detokenizer.finish();
    EXPECT_EQ(text, example.at("decoded").get<std::string>());
  }
}

TEST_P(RealModelTest, KnowsItsControlTokens) {
  EXPECT_EQ(tokenizer_->bos(), GetParam().bos);
  EXPECT_EQ(tokenizer_->end_of_generation(), GetParam().end_of_generation);
  EXPECT_EQ(encode("Hello world", {}), GetParam().hello);
}

TEST_P(RealModelTest, EncodesLongRunsOfOneCharacter) {
  for (const std::string unit : {"A", " ", "\n", ".", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += unit;
    EXPECT_EQ(tokenizer_->decode(encode(text, {.add_special = false})), text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, RealModelTest,
    ::testing::Values(
        RealModel{"SmolLM2", "SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2-tokenizer.json", 1, {0, 2}, {19556, 905}},
        RealModel{"Gemma3", "gemma-3-270m-q4_k_m.gguf", "gemma3-tokenizer.json", 2, {1, 106}, {2, 9259, 1902}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace trireme::tokenizer
