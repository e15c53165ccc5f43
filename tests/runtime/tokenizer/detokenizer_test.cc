// Detokenizer and stop strings.
#include "runtime/tokenizer/detokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/tokenizer/pipeline_tokenizer.h"
#include "runtime/tokenizer/utf8.h"
#include "runtime/tokenizer/word_piece.h"
#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;

// A tokenizer whose tokens are `pieces` as they are; the last one is special.
class PiecesTokenizer {
 public:
  explicit PiecesTokenizer(const std::vector<std::string>& pieces, TokenDecoder decoder = {})
      : tokenizer_(parts(pieces, std::move(decoder))) {}
  const Tokenizer& operator*() const { return tokenizer_; }

 private:
  static TokenizerParts parts(const std::vector<std::string>& pieces, TokenDecoder decoder) {
    TokenizerParts result;
    result.vocabulary = std::make_unique<Vocabulary>();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const TokenKind kind = i + 1 == pieces.size() ? TokenKind::kSpecial : TokenKind::kNormal;
      EXPECT_TRUE(result.vocabulary->add(static_cast<TokenId>(i), pieces[i], kind).ok());
    }
    result.model = std::make_unique<WordLevel>(*result.vocabulary, std::nullopt);
    result.decoder = std::move(decoder);
    return result;
  }
  PipelineTokenizer tokenizer_;
};

// What comes out for each of the pieces, and at the end.
std::vector<std::string> run(std::vector<std::string> pieces, const std::vector<std::string>& stops = {}) {
  pieces.push_back("<special>");
  const PiecesTokenizer tokenizer(pieces);
  Detokenizer detokenizer(*tokenizer, stops);
  std::vector<std::string> output;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) output.push_back(detokenizer.push(static_cast<TokenId>(i)));
  output.push_back(detokenizer.finish());
  return output;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

TEST(DetokenizerTest, HoldsBackHalfCharacters) {
  EXPECT_THAT(run({"a", "\xF0\x9F", "\x98", "\x80!"}), ElementsAre("a", "", "", "\xF0\x9F\x98\x80!", ""));
}

TEST(DetokenizerTest, ReplacesInvalidBytesAsSoonAsTheyAreCertain) {
  const std::string r(kReplacementCharacter);
  EXPECT_THAT(run({"\xE2\x82", "x", "\xFF", "\xE2"}), ElementsAre("", r + "x", r, "", r));
}

TEST(DetokenizerTest, SkipsSpecialTokensUnlessTold) {
  const PiecesTokenizer tokenizer({"a", "<special>"});
  Detokenizer skipping(*tokenizer, {});
  EXPECT_EQ(skipping.push(1) + skipping.push(0), "a");
  Detokenizer showing(*tokenizer, {}, false);
  EXPECT_EQ(showing.push(1) + showing.push(0), "<special>a");
}

TEST(DetokenizerTest, StripsTheFirstSpaceOfPrefixedTextOnly) {
  const PiecesTokenizer tokenizer({"\xE2\x96\x81the", "\xE2\x96\x81", "<special>"}, metaspace_decoder(true));
  Detokenizer detokenizer(*tokenizer, {});
  EXPECT_EQ(detokenizer.push(2), "");
  EXPECT_EQ(detokenizer.push(0), "the");
  EXPECT_EQ(detokenizer.push(0), " the");
  EXPECT_EQ((*tokenizer).decode(std::vector<TokenId>{0, 1, 0}), "the  the");
}

TEST(DetokenizerTest, CutsAtStopStringsWhereverTheyLie) {
  EXPECT_THAT(run({"one ST", "O", "P two"}, {"STOP"}), ElementsAre("one ", "", "", ""));
  EXPECT_THAT(run({"a STOP b", "c"}, {"STOP"}), ElementsAre("a ", "", ""));
  EXPECT_THAT(run({"ST", "OOP"}, {"STOP"}), ElementsAre("", "STOOP", ""));
  EXPECT_THAT(run({"x ST"}, {"STOP"}), ElementsAre("x ", "ST"));
  EXPECT_THAT(run({"aab", "aabx"}, {"aabaabx"}), ElementsAre("", "", ""));
  EXPECT_THAT(run({"aabaab", "aabx"}, {"aabaabx"}), ElementsAre("", "aab", ""));
}

TEST(DetokenizerTest, StopStringsMayCrossCharactersOfSeveralTokens) {
  EXPECT_THAT(run({"a\xC3", "\xA9\xE2\x82",
                   "\xAC"
                   "b"},
                  {"\xC3\xA9\xE2\x82\xAC"}),
              ElementsAre("a", "", "", ""));
  EXPECT_THAT(run({"\xC3\xA9\xE2", "x"}, {"\xC3\xA9"
                                          "y"}),
              ElementsAre("", "\xC3\xA9" + std::string(kReplacementCharacter) + "x", ""));
}

TEST(DetokenizerTest, OfOverlappingStopsTheOneThatEndsFirstCounts) {
  for (const auto& pieces :
       std::vector<std::vector<std::string>>{{"xabcdy"}, {"x", "a", "b", "c", "d", "y"}, {"xab", "cdy"}}) {
    EXPECT_EQ(joined(run(pieces, {"abcd", "bc"})), "xa");
    EXPECT_EQ(joined(run(pieces, {"bc", "abc"})), "x");
    EXPECT_EQ(joined(run(pieces, {"abcz", "cd"})), "xab");
  }
}

TEST(DetokenizerTest, GivesTheWholeDecodeForAnyTokens) {
  std::mt19937 random(7);
  const std::vector<std::string> stops = {"ab", "\xC3\xA9", "bba", std::string(kReplacementCharacter) + "a"};
  const std::string alphabet = "aab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF";
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> pieces(1 + random() % 12);
    std::string bytes;
    for (std::string& piece : pieces) {
      for (std::size_t i = 1 + random() % 3; i > 0; --i) piece += alphabet[random() % alphabet.size()];
      bytes += piece;
    }
    std::string whole;
    while (!bytes.empty()) {
      const Utf8Character character = first_character(bytes);
      whole += character.status == Utf8Status::kValid ? bytes.substr(0, character.bytes)
                                                      : std::string(kReplacementCharacter);
      bytes.erase(0, character.bytes);
    }
    ASSERT_EQ(joined(run(pieces)), whole);
    // The first end of a stop string, and of those that end there the longest.
    std::size_t cut = whole.size();
    for (std::size_t end = 1; end <= whole.size() && cut == whole.size(); ++end) {
      for (const std::string& stop : stops) {
        if (std::string_view(whole).substr(0, end).ends_with(stop)) cut = std::min(cut, end - stop.size());
      }
    }
    ASSERT_EQ(joined(run(pieces, stops)), whole.substr(0, cut));
  }
}

TEST(DetokenizerTest, StaysLinearWhereStopStringsNearlyMatch) {
  const std::string near = repeat("a", 1000);
  const PiecesTokenizer tokenizer({near, "<special>"});
  Detokenizer detokenizer(*tokenizer, {repeat("a", 5000) + "b"});
  std::size_t bytes = 0;
  for (int i = 0; i < 1000; ++i) bytes += detokenizer.push(0).size();
  EXPECT_EQ(bytes, 1'000'000u - 5000u);
  EXPECT_EQ(detokenizer.finish().size(), 5000u);
}

}  // namespace
}  // namespace trireme::tokenizer
