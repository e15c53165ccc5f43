// How single tokens become text; whole files are compared in tokenizer_golden_test.cc.
#include "runtime/tokenizer/decoder.h"

#include <gtest/gtest.h>

#include <utility>

namespace trireme::tokenizer {
namespace {

template <typename Step>
TokenDecoder decoder(Step step) {
  std::vector<DecoderStep> steps;
  steps.emplace_back(std::move(step));
  return TokenDecoder(std::move(steps));
}

TEST(TokenDecoderTest, WordPiecesJoinOrBeginAWord) {
  const TokenDecoder word_piece = decoder(WordPieceDecode{});
  EXPECT_EQ(word_piece.apply("row", true), "row");
  EXPECT_EQ(word_piece.apply("row", false), " row");
  EXPECT_EQ(word_piece.apply("##ing", false), "ing");
  EXPECT_EQ(word_piece.apply(".", false), ".");
  EXPECT_EQ(decoder(WordPieceDecode{"##", false}).apply(".", false), " .");
}

TEST(TokenDecoderTest, TheFirstTokenLosesItsMetaspaces) {
  EXPECT_EQ(decoder(MetaspaceDecode{"_", true}).apply("_a_b", true), "ab");
  EXPECT_EQ(decoder(MetaspaceDecode{"_", true}).apply("_a_b", false), " a b");
  EXPECT_EQ(decoder(MetaspaceDecode{"_", false}).apply("_a", true), " a");
}

TEST(TokenDecoderTest, AWordsEndIsASpaceBeforeTheNextToken) {
  const TokenDecoder word_end = decoder(WordEndDecode{"</w>"});
  EXPECT_EQ(word_end.apply("row</w>", false), "row");
  EXPECT_TRUE(word_end.ends_word("row</w>"));
  EXPECT_FALSE(word_end.ends_word("row"));
}

TEST(TokenDecoderTest, StripsUpToSoManyCharacters) {
  EXPECT_EQ(decoder(StripDecode{" ", 1, 2}).apply("  a   ", false), " a ");
}

TEST(TokenDecoderTest, TokensThatAreNoAlphabetStayAsTheyAre) {
  EXPECT_EQ(decoder(ByteLevelDecode{}).apply("\xC4\xA0row", false), " row");
  EXPECT_EQ(decoder(ByteLevelDecode{}).apply("\xE4\xB8\xAD", false), "\xE4\xB8\xAD");
}

}  // namespace
}  // namespace trireme::tokenizer
