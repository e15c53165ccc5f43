// Both kinds of byte-pair encoding, against hand-made cases and against a plain quadratic implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/byte_level_bpe.h"
#include "runtime/tokenizer/ranked_bpe.h"
#include "runtime/tokenizer/sentencepiece_bpe.h"
#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<TokenId> encode(const WordModel& model, std::string_view word) {
  std::vector<TokenId> ids;
  EXPECT_TRUE(model.encode(std::vector{word}, ids).ok());
  return ids;
}

TEST(ByteAlphabetTest, MapsItsCharactersToBytes) {
  EXPECT_EQ(bytes_from_alphabet("Hi!"), "Hi!");
  EXPECT_EQ(bytes_from_alphabet("\xC4\xA0the"), " the");
  EXPECT_EQ(bytes_from_alphabet("\xC4\x8A"), "\n");
  EXPECT_EQ(bytes_from_alphabet("\xC4\x80"), std::string(1, '\0'));
  EXPECT_EQ(bytes_from_alphabet("\xC3\x83\xC2\xA9"), "\xC3\xA9");
  EXPECT_EQ(bytes_from_alphabet("a b"), std::nullopt);
  EXPECT_EQ(bytes_from_alphabet("\xE4\xB8\xAD"), std::nullopt);
}

TEST(ByteLevelBpeTest, MergesTheLowestRankFirstAndTheLeftmostOfEquals) {
  const auto vocabulary = make_vocabulary({"a", "b", "c", "bc", "ab", "aa", "abc"});
  const ByteLevelBpe model(*vocabulary, make_merges(*vocabulary, {{"b", "c"}, {"a", "b"}, {"a", "a"}}), {});
  EXPECT_THAT(encode(model, "abc"), ElementsAre(0, 3));
  EXPECT_THAT(encode(model, "aaa"), ElementsAre(5, 0));
  EXPECT_THAT(encode(model, "ab"), ElementsAre(4));
}

TEST(ByteLevelBpeTest, TakesWholeWordsFirstWhereMergesAreIgnored) {
  const auto vocabulary = make_vocabulary({"a", "b", "ab", "abab"});
  const auto merges = [&] { return make_merges(*vocabulary, {{"a", "b"}}); };
  EXPECT_THAT(encode(ByteLevelBpe(*vocabulary, merges(), {}), "abab"), ElementsAre(2, 2));
  EXPECT_THAT(encode(ByteLevelBpe(*vocabulary, merges(), {.ignore_merges = true, .unknown = {}}), "abab"),
              ElementsAre(3));
}

TEST(ByteLevelBpeTest, LeavesOutOrMarksBytesWithoutToken) {
  const auto vocabulary = make_vocabulary({"a", "b", "ab", "?"});
  const auto merges = [&] { return make_merges(*vocabulary, {{"a", "b"}}); };
  EXPECT_THAT(encode(ByteLevelBpe(*vocabulary, merges(), {}), "axb"), ElementsAre(2));
  EXPECT_THAT(encode(ByteLevelBpe(*vocabulary, merges(), {}), "x"), IsEmpty());
  EXPECT_THAT(encode(ByteLevelBpe(*vocabulary, merges(), {.ignore_merges = false, .unknown = 3}), "axb"),
              ElementsAre(0, 3, 1));
}

TEST(SentencePieceBpeTest, MergesTheHighestScoreFirstAndTheLeftmostOfEquals) {
  const auto vocabulary = make_vocabulary({"a", "b", "c", "bc", "ab", "aa"});
  const SentencePieceBpe model(*vocabulary, TokenScores{0, 0, 0, -1, -2, -3}, {});
  EXPECT_THAT(encode(model, "abc"), ElementsAre(0, 3));
  EXPECT_THAT(encode(model, "aaa"), ElementsAre(5, 0));
}

TEST(SentencePieceBpeTest, MergesCharactersThatAreNoTokensThemselves) {
  const auto vocabulary = make_vocabulary({"a", "xy"});
  const SentencePieceBpe model(*vocabulary, TokenScores{0, -1}, {});
  EXPECT_THAT(encode(model, "axy"), ElementsAre(0, 1));
}

TEST(SentencePieceBpeTest, FallsBackToBytesOrTheUnknownToken) {
  const auto vocabulary = make_vocabulary({"<unk>", "a"});
  ASSERT_TRUE(vocabulary->add(2, "\xC3", TokenKind::kByte).ok());
  ASSERT_TRUE(vocabulary->add(3, "\xA9", TokenKind::kByte).ok());
  SentencePieceBpe::Options options;
  options.byte_ids[0xC3] = 2;
  options.byte_ids[0xA9] = 3;
  options.unknown = 0;
  const SentencePieceBpe fused(*vocabulary, TokenScores(4), options);
  EXPECT_THAT(encode(fused, "a\xC3\xA9"), ElementsAre(1, 2, 3));
  EXPECT_THAT(encode(fused, "xyaz"), ElementsAre(0, 1, 0));
  options.fuse_unknown = false;
  EXPECT_THAT(encode(SentencePieceBpe(*vocabulary, TokenScores(4), options), "xyaz"), ElementsAre(0, 0, 1, 0));
}

TEST(ByteFallbackTest, ReadsOnlyWellFormedByteTokens) {
  EXPECT_EQ(parse_byte_token("<0x0A>"), 0x0A);
  EXPECT_EQ(parse_byte_token("<0xFF>"), 0xFF);
  for (const char* bad : {"<0x-1>", "<0xZZ>", "<0xff>", "<0x0>", "<0x000>", "0x00", "<0x00", ""}) {
    EXPECT_EQ(parse_byte_token(bad), std::nullopt) << bad;
  }
}

// Random vocabularies over three letters: every token of more than one letter has a rank and a score for it.
struct RandomVocabulary {
  explicit RandomVocabulary(std::mt19937& random) {
    std::set<std::string> seen = {"a", "b", "c"};
    tokens.assign(seen.begin(), seen.end());
    while (tokens.size() < 40) {
      const std::string left = tokens[random() % tokens.size()];
      const std::string right = tokens[random() % tokens.size()];
      if (!seen.insert(left + right).second) continue;
      tokens.push_back(left + right);
      pairs.emplace_back(left, right);
    }
  }
  std::vector<std::string> tokens;
  std::vector<std::pair<std::string, std::string>> pairs;
};

// Merges the best adjacent pair until none is left. `rank_of(left, right)`: lower is better, negative: no merge.
template <typename RankOf>
std::vector<std::string> merge_naively(std::string_view word, const RankOf& rank_of) {
  std::vector<std::string> symbols;
  for (const char letter : word) symbols.emplace_back(1, letter);
  for (;;) {
    int best = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const int rank = rank_of(symbols[i], symbols[i + 1]);
      if (rank < 0 || (best >= 0 && rank >= best)) continue;
      best = rank;
      at = i;
    }
    if (best < 0) return symbols;
    symbols[at] += symbols[at + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

std::string random_word(std::mt19937& random) {
  std::string word;
  for (std::size_t length = 1 + random() % 40; word.size() < length;) word += static_cast<char>('a' + random() % 3);
  return word;
}

std::vector<std::string> texts(const Vocabulary& vocabulary, const std::vector<TokenId>& ids) {
  std::vector<std::string> result;
  for (const TokenId id : ids) result.emplace_back(vocabulary.bytes(id));
  return result;
}

TEST(BpeTest, AgreesWithAPlainImplementationByRank) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    const RandomVocabulary tokens(random);
    const auto vocabulary = make_vocabulary(tokens.tokens);
    std::map<std::pair<std::string, std::string>, int> ranks;
    for (std::size_t i = 0; i < tokens.pairs.size(); ++i) ranks[tokens.pairs[i]] = static_cast<int>(i);
    const ByteLevelBpe bytes(*vocabulary, make_merges(*vocabulary, tokens.pairs), {});
    const RankedBpe pieces(*vocabulary, make_merges(*vocabulary, tokens.pairs), {});
    for (int i = 0; i < 30; ++i) {
      const std::string word = random_word(random);
      const auto expected = merge_naively(word, [&](const std::string& left, const std::string& right) {
        const auto rank = ranks.find({left, right});
        return rank == ranks.end() ? -1 : rank->second;
      });
      ASSERT_EQ(texts(*vocabulary, encode(bytes, word)), expected) << word;
      ASSERT_EQ(texts(*vocabulary, encode(pieces, word)), expected) << word;
    }
  }
}

TEST(BpeTest, AgreesWithAPlainImplementationByScore) {
  std::mt19937 random(2);
  for (int round = 0; round < 30; ++round) {
    const RandomVocabulary tokens(random);
    const auto vocabulary = make_vocabulary(tokens.tokens);
    TokenScores scores;
    for (std::size_t i = 0; i < tokens.tokens.size(); ++i) scores.push_back(-static_cast<float>(random() % 20));
    const SentencePieceBpe model(*vocabulary, scores, {});
    for (int i = 0; i < 30; ++i) {
      const std::string word = random_word(random);
      const auto expected = merge_naively(word, [&](const std::string& left, const std::string& right) {
        const auto id = vocabulary->find(left + right);
        return id ? static_cast<int>(-scores[static_cast<std::size_t>(*id)]) : -1;
      });
      ASSERT_EQ(texts(*vocabulary, encode(model, word)), expected) << word;
    }
  }
}

}  // namespace
}  // namespace trireme::tokenizer
