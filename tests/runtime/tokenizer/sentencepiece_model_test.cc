// Damaged SentencePiece models, and what a good one says of itself. Ids: tokenizer_golden_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/tokenizer/loaders.h"
#include "tests/support/temporary_folder.h"

namespace trireme::tokenizer {
namespace {

using testing::HasSubstr;

class SentencePieceModelTest : public ::testing::Test {
 protected:
  SentencePieceModelTest() {
    std::ifstream stream(good_path(), std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(stream), {});
  }
  static std::string good_path() {
    return std::string(TRIREME_TEST_DATA) + "/tokenizers/sentencepiece-model-bpe/tokenizer.model";
  }
  base::Result<TokenizerParts> load(const std::string& bytes) {
    folder_.write("tokenizer.model", bytes);
    return load_sentencepiece_model(folder_.path() / "tokenizer.model");
  }
  std::string good_;
  test::TemporaryFolder folder_;
};

TEST_F(SentencePieceModelTest, KnowsItsControlTokens) {
  const auto tokenizer = Tokenizer::from_path(good_path());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->bos(), 1);
  EXPECT_EQ((*tokenizer)->eos(), 2);
  EXPECT_TRUE((*tokenizer)->is_special(0));
  EXPECT_EQ((*tokenizer)->kind(), "SentencePiece model");
}

TEST_F(SentencePieceModelTest, ErrorsNameTheFile) {
  for (const std::string& bytes : {std::string(), std::string("not a model"), good_.substr(0, good_.size() / 2)}) {
    const auto parts = load(bytes);
    ASSERT_FALSE(parts.ok());
    EXPECT_THAT(parts.error().message, HasSubstr("tokenizer.model: "));
  }
  EXPECT_EQ(load_sentencepiece_model("/nonexistent/a.model").error().code, base::ErrorCode::kNotFound);
}

TEST_F(SentencePieceModelTest, SurvivesEveryCut) {
  for (std::size_t size = 0; size < good_.size(); size += 97) {
    const auto parts = load(good_.substr(0, size));
    EXPECT_THAT(parts ? "tokenizer.model: " : parts.error().message, HasSubstr("tokenizer.model: "));
  }
}

TEST_F(SentencePieceModelTest, RefusesATableThatLeadsOutOfItself) {
  // Field 3 of ModelProto is the normalizer, and field 2 of that its table: a trie of one unit.
  const std::string table = std::string("\x04\0\0\0", 4) + std::string("\0\xFF\xFF\x7F", 4) + std::string(1, '\0');
  const std::string normalizer = "\x12" + std::string(1, static_cast<char>(table.size())) + table;
  const auto parts = load(good_ + "\x1A" + std::string(1, static_cast<char>(normalizer.size())) + normalizer);
  ASSERT_FALSE(parts.ok());
  EXPECT_THAT(parts.error().message, HasSubstr("leads out of itself"));
}

TEST_F(SentencePieceModelTest, IsTheTokenizerOfADirectoryWithoutTokenizerJson) {
  folder_.write("tokenizer.model", good_);
  folder_.write("tokenizer_config.json", R"({"add_bos_token": false})");
  auto parts = load_hugging_face_tokenizer(folder_.path(), nlohmann::json::object());
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_TRUE(parts->prefix.empty());
  EXPECT_EQ(parts->bos, 1);
}

}  // namespace
}  // namespace trireme::tokenizer
