#include "runtime/tokenizer/word_piece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;

std::vector<TokenId> encode(const WordModel& model, std::vector<std::string_view> words) {
  std::vector<TokenId> ids;
  EXPECT_TRUE(model.encode(words, ids).ok());
  return ids;
}

TEST(WordPieceTest, TakesTheLongestTokenFromTheWordsBeginning) {
  const auto vocabulary = make_vocabulary({"[UNK]", "row", "rowing", "##ing", "##i", "##ng", "##s"});
  const WordPiece model(*vocabulary, {.unknown = 0});
  EXPECT_THAT(encode(model, {"row"}), ElementsAre(1));
  EXPECT_THAT(encode(model, {"rowings", "rows"}), ElementsAre(2, 6, 1, 6));
}

TEST(WordPieceTest, AWordThatCannotBeCutIsOneUnknownToken) {
  const auto vocabulary = make_vocabulary({"[UNK]", "row", "##ing"});
  const WordPiece model(*vocabulary, {.unknown = 0});
  EXPECT_THAT(encode(model, {"row", "rowX", "rowing"}), ElementsAre(1, 0, 1, 2));
  EXPECT_THAT(encode(model, {"ing"}), ElementsAre(0));  // only within a word
}

TEST(WordPieceTest, ALongWordIsUnknown) {
  const auto vocabulary = make_vocabulary({"[UNK]", "\xC3\xA9", "##\xC3\xA9"});
  const WordPiece model(*vocabulary, {.unknown = 0, .max_word_characters = 3});
  EXPECT_THAT(encode(model, {repeat("\xC3\xA9", 3)}), ElementsAre(1, 2, 2));
  EXPECT_THAT(encode(model, {repeat("\xC3\xA9", 4)}), ElementsAre(0));
}

TEST(WordPieceTest, SpecialTokensAreNoText) {
  auto vocabulary = make_vocabulary({"[UNK]", "a", "ab"});
  vocabulary->set_kind(2, TokenKind::kSpecial);
  EXPECT_THAT(encode(WordPiece(*vocabulary, {.unknown = 0}), {"ab"}), ElementsAre(0));
}

TEST(WordLevelTest, AWordIsATokenOrUnknown) {
  const auto vocabulary = make_vocabulary({"[UNK]", "row"});
  EXPECT_THAT(encode(WordLevel(*vocabulary, 0), {"row", "rows"}), ElementsAre(1, 0));
  EXPECT_THAT(encode(WordLevel(*vocabulary, std::nullopt), {"row", "rows"}), ElementsAre(1));
}

}  // namespace
}  // namespace trireme::tokenizer
