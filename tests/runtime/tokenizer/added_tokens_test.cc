#include "runtime/tokenizer/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;

// Segments as text: ordinary text in quotes, tokens by their id.
std::vector<std::string> split(const AddedTokens& tokens, std::string_view text,
                               SpecialTokens mode = SpecialTokens::kRecognise) {
  std::vector<TextSegment> segments;
  tokens.split(text, {mode, {}}, segments);
  std::vector<std::string> result;
  for (const TextSegment& segment : segments) {
    result.push_back(segment.token ? std::to_string(*segment.token) : "'" + std::string(segment.text) + "'");
  }
  return result;
}

TEST(AddedTokensTest, TakesTheLongestThatBeginsAtAPlace) {
  const AddedTokens tokens({{.content = "\n", .id = 1}, {.content = "\n\n\n", .id = 3}, {.content = "<a>", .id = 4}});
  EXPECT_THAT(split(tokens, "x\n\n\n\n\ny"), ElementsAre("'x'", "3", "1", "1", "'y'"));
  EXPECT_THAT(split(tokens, "<a<a>>"), ElementsAre("'<a'", "4", "'>'"));
  EXPECT_THAT(split(tokens, ""), ElementsAre());
}

TEST(AddedTokensTest, SpecialTokensAreTextWhereToldSo) {
  const AddedTokens tokens({{.content = "<s>", .id = 1, .special = true}, {.content = "<br>", .id = 2}});
  EXPECT_THAT(split(tokens, "a<s><br>"), ElementsAre("'a'", "1", "2"));
  EXPECT_THAT(split(tokens, "a<s><br>", SpecialTokens::kAsText), ElementsAre("'a<s>'", "2"));
}

TEST(AddedTokensTest, TakesWhitespaceAlong) {
  const AddedTokens tokens({{.content = "<l>", .id = 1, .lstrip = true},
                            {.content = "<r>", .id = 2, .rstrip = true},
                            {.content = "<b>", .id = 3, .lstrip = true, .rstrip = true}});
  EXPECT_THAT(split(tokens, "a \xE3\x80\x80\n<l> b"), ElementsAre("'a'", "1", "' b'"));
  EXPECT_THAT(split(tokens, "a <r> \t b"), ElementsAre("'a '", "2", "'b'"));
  EXPECT_THAT(split(tokens, " <b> <b> "), ElementsAre("3", "3"));
}

TEST(AddedTokensTest, SingleWordsTouchNoLetters) {
  const AddedTokens tokens({{.content = "use", .id = 1, .single_word = true}});
  EXPECT_THAT(split(tokens, "use user abuse use_ (use)\xC3\xA9use"),
              ElementsAre("1", "' user abuse use_ ('", "1", "')\xC3\xA9use'"));
}

TEST(AddedTokensTest, FindsByContent) {
  const AddedTokens tokens({{.content = "<s>", .id = 1}, {.content = "<s>x", .id = 2}});
  EXPECT_EQ(tokens.find("<s>"), 1);
  EXPECT_EQ(tokens.find("<s>x"), 2);
  EXPECT_EQ(tokens.find("<s"), std::nullopt);
  EXPECT_EQ(tokens.find("<s>y"), std::nullopt);
}

}  // namespace
}  // namespace trireme::tokenizer
