// Tokenizer files of several families against the reference's ids, exactly.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/tokenizer/detokenizer.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {
namespace {

struct GoldenTokenizer {
  std::string name;
  std::string directory;  // both below tests/data
  std::string cases;
};

void PrintTo(const GoldenTokenizer& golden, std::ostream* stream) {
  *stream << golden.name;
}

class GoldenTokenizerTest : public ::testing::TestWithParam<GoldenTokenizer> {
 protected:
  void SetUp() override {
    const std::string data = TRIREME_TEST_DATA;
    auto tokenizer = Tokenizer::from_path(data + "/" + GetParam().directory);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    tokenizer_ = std::move(*tokenizer);
    std::ifstream stream(data + "/" + GetParam().cases);
    cases_ = nlohmann::json::parse(stream).at("cases");
    ASSERT_GE(cases_.size(), 60u);
  }

  std::unique_ptr<Tokenizer> tokenizer_;
  nlohmann::json cases_;
};

TEST_P(GoldenTokenizerTest, EncodesAsTheReference) {
  for (const nlohmann::json& example : cases_) {
    const std::string text = example.at("text");
    const auto ids = tokenizer_->encode(text, {});
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(*ids, example.at("ids").get<std::vector<TokenId>>()) << text;
    if (!example.contains("ids_special_as_text")) continue;
    const auto as_text = tokenizer_->encode(text, {.special = SpecialTokens::kAsText});
    ASSERT_TRUE(as_text.ok());
    EXPECT_EQ(*as_text, example.at("ids_special_as_text").get<std::vector<TokenId>>()) << text;
  }
}

TEST_P(GoldenTokenizerTest, DecodesAsTheReference) {
  for (const nlohmann::json& example : cases_) {
    if (!example.contains("decoded")) continue;
    Detokenizer detokenizer(*tokenizer_, {});
    std::string text;
    for (const TokenId id : example.at("ids")) text += detokenizer.push(id);
    text += detokenizer.finish();
    EXPECT_EQ(text, example.at("decoded").get<std::string>());
  }
}

GoldenTokenizer family(const std::string& name) {
  return {name, "tokenizers/" + name, "tokenizers/" + name + "/cases.json"};
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenTokenizerTest,
                         ::testing::Values(GoldenTokenizer{"llama", "models/llama", "golden/llama-tokenizer.json"},
                                           family("byte-level-nfc"), family("byte-level-template"),
                                           family("byte-level-digits"), family("sentencepiece-prefix"),
                                           family("sentencepiece-newlines"), family("metaspace-first"),
                                           family("unknown-fused"), family("bpe-continuation"), family("bpe-word-end"),
                                           family("byte-level-then-digits"), family("roberta-processing"),
                                           family("template-in-sequence"), family("unigram"), family("unigram-bytes"),
                                           family("word-level"), family("word-piece"),
                                           family("sentencepiece-model-bpe"), family("sentencepiece-model-unigram")),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace trireme::tokenizer
