#include "runtime/tokenizer/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tokenizer/regex_dialect.h"
#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> find(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.ok()) << (regex ? "" : regex.error().message);
  std::vector<Match> matches;
  if (!regex) return {};
  EXPECT_TRUE(Regex::Matcher(*regex).find_all(text, matches).ok());
  std::vector<std::string> result;
  for (const Match& match : matches) result.emplace_back(text.substr(match.begin, match.end - match.begin));
  return result;
}

TEST(RegexTest, ClassesFollowUnicode) {
  EXPECT_THAT(find(R"(\p{L}+)", "na\xC3\xAFve 42 \xE4\xB8\xAD\xE6\x96\x87"),
              ElementsAre("na\xC3\xAFve", "\xE4\xB8\xAD\xE6\x96\x87"));
  EXPECT_THAT(find(R"(\s)",
                   "a\xC2\xA0"
                   "b\xE3\x80\x80"
                   "c"),
              ElementsAre("\xC2\xA0", "\xE3\x80\x80"));
  EXPECT_THAT(find(R"((?i:'s))", "'s 'S '\xC5\xBF"), ElementsAre("'s", "'S", "'\xC5\xBF"));
}

TEST(RegexTest, TheMongolianVowelSeparatorIsNoSpace) {
  const std::string text =
      "a\xE1\xA0\x8E"
      "b";
  EXPECT_THAT(find(R"(\s)", text), IsEmpty());
  EXPECT_THAT(find(R"([\s])", text), IsEmpty());
  EXPECT_THAT(find(R"(\S+)", text), ElementsAre(text));
  EXPECT_THAT(find(R"([^\sx]+)", text), ElementsAre(text));
}

TEST(RegexTest, LeavesOutEmptyMatchesAndGoesOn) {
  EXPECT_THAT(find("a*",
                   "baac\xC3\xA9"
                   "a"),
              ElementsAre("aa", "a"));
  EXPECT_THAT(find("(?=b)|c", "abc"), ElementsAre("c"));
}

TEST(RegexTest, LiteralsHaveNoOperators) {
  const auto regex = Regex::literal("a.*");
  ASSERT_TRUE(regex.ok());
  std::vector<Match> matches;
  ASSERT_TRUE(Regex::Matcher(*regex).find_all("abc a.* a", matches).ok());
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].begin, 4u);
}

TEST(RegexTest, RefusesWhatOnigurumaReadsDifferently) {
  for (const char* pattern : {R"(\h)", R"(\R)", R"(\X)", R"([a&&b])", R"([a[b]])", "(", R"(\p{Nonsense})"}) {
    const auto regex = Regex::compile(pattern);
    ASSERT_FALSE(regex.ok()) << pattern;
    EXPECT_EQ(regex.error().code, base::ErrorCode::kUnsupported);
    EXPECT_THAT(regex.error().message, HasSubstr("regular expression \""));
  }
}

TEST(RegexTest, TranslatesUnicodeEscapes) {
  EXPECT_THAT(find(R"([\u4e00-\u9fa5]+)", "a\xE4\xB8\xAD\xE6\x96\x87"), ElementsAre("\xE4\xB8\xAD\xE6\x96\x87"));
}

TEST(RegexTest, BoundsBacktracking) {
  const auto regex = Regex::compile("(a|a)*(a|a)*[^a]");
  ASSERT_TRUE(regex.ok());
  std::vector<Match> matches;
  const auto status = Regex::Matcher(*regex).find_all(repeat("a", 64), matches);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("at byte 0"));
}

TEST(RegexTest, RepeatedGroupsOverAMillionCharactersMatchOrFailWithAnError) {
  const auto regex = Regex::compile("(?:a|b)+c?");
  ASSERT_TRUE(regex.ok());
  std::vector<Match> matches;
  const auto status = Regex::Matcher(*regex).find_all(repeat("ab", 500'000), matches);
  EXPECT_TRUE(!status.ok() || matches.size() == 1);
}

}  // namespace
}  // namespace trireme::tokenizer
