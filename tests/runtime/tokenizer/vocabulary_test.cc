#include "runtime/tokenizer/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/tokenizer/merges.h"
#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::HasSubstr;

TEST(VocabularyTest, FindsEachOfManyTokens) {
  Vocabulary vocabulary;
  constexpr TokenId kNumTokens = 50'000;
  for (TokenId id = 0; id < kNumTokens; ++id) {
    ASSERT_TRUE(vocabulary.add(id, "token" + std::to_string(id), TokenKind::kNormal).ok());
    ASSERT_TRUE(vocabulary.index(id).ok());
  }
  for (TokenId id = 0; id < kNumTokens; ++id) {
    const std::string token = "token" + std::to_string(id);
    ASSERT_EQ(vocabulary.find(token), id);
    ASSERT_EQ(vocabulary.bytes(id), token);
  }
  EXPECT_EQ(vocabulary.find("token"), std::nullopt);
  EXPECT_EQ(vocabulary.find(""), std::nullopt);
  EXPECT_EQ(vocabulary.max_indexed_bytes(), 10u);
}

TEST(VocabularyTest, KeepsHolesAsUnusedIds) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.add(5, "five", TokenKind::kNormal).ok());
  EXPECT_EQ(vocabulary.size(), 6);
  EXPECT_EQ(vocabulary.kind(3), TokenKind::kUnused);
  EXPECT_EQ(vocabulary.bytes(3), "");
  EXPECT_EQ(vocabulary.bytes(6), "");
  EXPECT_EQ(vocabulary.bytes(-1), "");
}

TEST(VocabularyTest, RefusesTakenIdsDuplicateTextAndAbsurdIds) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.add(0, "a", TokenKind::kNormal).ok());
  ASSERT_TRUE(vocabulary.index(0).ok());
  EXPECT_THAT(vocabulary.add(0, "b", TokenKind::kNormal).error().message, HasSubstr("two tokens have id 0"));
  ASSERT_TRUE(vocabulary.add(1, "a", TokenKind::kNormal).ok());
  EXPECT_THAT(vocabulary.index(1).error().message, HasSubstr("0 and 1 have the same text"));
  EXPECT_FALSE(vocabulary.add(-1, "c", TokenKind::kNormal).ok());
  EXPECT_FALSE(vocabulary.add(Vocabulary::kMaxSize, "c", TokenKind::kNormal).ok());
  EXPECT_FALSE(vocabulary.add(2, std::string(Vocabulary::kMaxTokenBytes + 1, 'x'), TokenKind::kNormal).ok());
}

TEST(VocabularyTest, TextNeverBecomesASpecialToken) {
  const auto vocabulary = make_vocabulary({"<s>", "a"});
  vocabulary->set_kind(0, TokenKind::kSpecial);
  EXPECT_EQ(vocabulary->find("<s>"), 0);
  EXPECT_EQ(vocabulary->find_text("<s>"), std::nullopt);
  EXPECT_EQ(vocabulary->find_text("a"), 1);
}

TEST(MergeTableTest, RefusesTokensThatTheVocabularyLacks) {
  const auto vocabulary = make_vocabulary({"a", "b", "ab"});
  MergeTable merges;
  EXPECT_TRUE(merges.add(*vocabulary, "a", "b").ok());
  EXPECT_THAT(merges.add(*vocabulary, "x", "b").error().message, HasSubstr("merge 1: token \"x\""));
  EXPECT_THAT(merges.add(*vocabulary, "a", "y").error().message, HasSubstr("\"y\""));
  EXPECT_THAT(merges.add(*vocabulary, "ab", "b").error().message, HasSubstr("\"abb\""));
}

TEST(MergeTableTest, GivesEachPairItsRank) {
  const auto vocabulary = make_vocabulary({"a", "b", "ab", "ba", "aa"});
  const MergeTable merges = make_merges(*vocabulary, {{"a", "b"}, {"b", "a"}, {"a", "a"}, {"a", "b"}});
  EXPECT_EQ(merges.size(), 3u);
  EXPECT_EQ(merges.find(1, 0)->rank, 1u);
  EXPECT_EQ(merges.find(1, 0)->merged, 3);
  EXPECT_EQ(merges.find(0, 1)->rank, 3u);  // the last of two
  EXPECT_EQ(merges.find(1, 1), nullptr);
}

}  // namespace
}  // namespace trireme::tokenizer
