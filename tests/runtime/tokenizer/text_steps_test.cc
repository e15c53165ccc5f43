// Normalizer and pre-tokenizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tokenizer/normalizer.h"
#include "runtime/tokenizer/pre_tokenizer.h"
#include "runtime/tokenizer/pre_tokenizer_patterns.h"
#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kUnder = "\xE2\x96\x81";

std::vector<std::string> split(const PreTokenizer& pre_tokenizer, std::string_view text, bool at_text_start = true) {
  const auto words = pre_tokenizer.apply(text, at_text_start);
  EXPECT_TRUE(words.ok());
  return words ? std::vector<std::string>(words->words.begin(), words->words.end()) : std::vector<std::string>{};
}

PreTokenizer split_at(std::string_view pattern, SplitBehavior behavior, bool invert = false) {
  std::vector<PreTokenizerStep> steps;
  steps.emplace_back(SplitStep{Regex::compile(pattern).value(), behavior, invert});
  return PreTokenizer(std::move(steps));
}

PreTokenizer metaspace(MetaspaceStep step) {
  std::vector<PreTokenizerStep> steps;
  steps.emplace_back(step);
  return PreTokenizer(std::move(steps));
}

PreTokenizer named(std::string_view name) {
  auto result = pre_tokenizer_by_name(name);
  EXPECT_TRUE(result.ok());
  return std::move(result->pre_tokenizer);
}

TEST(PreTokenizerTest, SplitsInEachBehavior) {
  const std::string text = "the-final--countdown";
  EXPECT_THAT(split(split_at("-", SplitBehavior::kRemoved), text), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(split(split_at("-", SplitBehavior::kIsolated), text),
              ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(split(split_at("-", SplitBehavior::kMergedWithPrevious), text),
              ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(split(split_at("-", SplitBehavior::kMergedWithNext), text),
              ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(split(split_at("-", SplitBehavior::kContiguous), text),
              ElementsAre("the", "-", "final", "--", "countdown"));
  EXPECT_THAT(split(split_at("[a-z]+", SplitBehavior::kRemoved, true), text), ElementsAre("the", "final", "countdown"));
}

TEST(PreTokenizerTest, WritesSpacesAsMetaspaces) {
  using Prepend = MetaspaceStep::Prepend;
  EXPECT_THAT(split(metaspace({Prepend::kAlways, true}), "a  b"), ElementsAre(kUnder + "a", kUnder, kUnder + "b"));
  EXPECT_THAT(split(metaspace({Prepend::kAlways, true}), " a"), ElementsAre(kUnder + "a"));
  EXPECT_THAT(split(metaspace({Prepend::kFirst, false}), "a b"), ElementsAre(kUnder + "a" + kUnder + "b"));
  EXPECT_THAT(split(metaspace({Prepend::kFirst, false}), "a b", false), ElementsAre("a" + kUnder + "b"));
  EXPECT_THAT(split(metaspace({Prepend::kNever, true}), "a b"), ElementsAre("a", kUnder + "b"));
}

TEST(PreTokenizerTest, NamedPatternsDifferWhereTheModelsDo) {
  const std::string text = "Don't pay 12345 \n\n x";
  EXPECT_THAT(split(named("gpt-2"), text), ElementsAre("Don", "'t", " pay", " 12345", " \n\n", " x"));
  EXPECT_THAT(split(named("smollm"), text),
              ElementsAre("Don", "'t", " pay", " ", "1", "2", "3", "4", "5", " \n\n", " x"));
  EXPECT_THAT(split(named("llama-bpe"), text), ElementsAre("Don", "'t", " pay", " ", "123", "45", " \n\n", " x"));
  EXPECT_THAT(split(named("qwen2"), text),
              ElementsAre("Don", "'t", " pay", " ", "1", "2", "3", "4", "5", " \n\n", " x"));
  EXPECT_THAT(split(named("default"), "a+b 12345"), ElementsAre("a", "+", "b", " ", "123", "45"));
}

TEST(PreTokenizerTest, RefusesUnknownNamesAndListsTheKnownOnes) {
  const auto result = pre_tokenizer_by_name("martian");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("\"martian\""));
  EXPECT_THAT(result.error().message, HasSubstr("smollm"));
}

TEST(NormalizerTest, NormalisesUnicode) {
  const std::string decomposed = "e\xCC\x81";
  EXPECT_EQ(normalize_unicode(decomposed, UnicodeForm::kNfc), "\xC3\xA9");
  EXPECT_EQ(normalize_unicode("\xC3\xA9", UnicodeForm::kNfd), decomposed);
  EXPECT_EQ(normalize_unicode("\xEF\xAC\x81", UnicodeForm::kNfkc), "fi");
  EXPECT_EQ(normalize_unicode("\xEF\xAC\x81", UnicodeForm::kNfc), "\xEF\xAC\x81");
  EXPECT_EQ(normalize_unicode("\xED\x95\x9C", UnicodeForm::kNfd), "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB");
  EXPECT_EQ(normalize_unicode("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", UnicodeForm::kNfc), "\xED\x95\x9C");
  EXPECT_EQ(normalize_unicode(std::string_view("a\0\xC2\xAD", 4), UnicodeForm::kNfkc), std::string("a\0\xC2\xAD", 4));
}

TEST(NormalizerTest, OrdersLongRunsOfMarksInLinearTime) {
  // Acute (class 230) and dot below (class 220): a quadratic sort of a million of them would take minutes.
  const std::string marks = repeat("\xCC\x81\xCC\xA3", 500'000);
  const std::string ordered = normalize_unicode("x" + marks, UnicodeForm::kNfd);
  EXPECT_EQ(ordered, "x" + repeat("\xCC\xA3", 500'000) + repeat("\xCC\x81", 500'000));
}

TEST(NormalizerTest, AppliesStepsInTheirOrder) {
  std::vector<NormalizerStep> steps;
  steps.emplace_back(PrependText{kUnder});
  steps.emplace_back(ReplaceText{Regex::literal(" ").value(), kUnder});
  const Normalizer normalizer(std::move(steps));
  EXPECT_EQ(*normalizer.apply("a b"), kUnder + "a" + kUnder + "b");
  EXPECT_EQ(*normalizer.apply(""), "");
}

}  // namespace
}  // namespace trireme::tokenizer
