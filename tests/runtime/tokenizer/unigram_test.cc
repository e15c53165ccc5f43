// Unigram against hand-made cases and against a search through all segmentations.
#include "runtime/tokenizer/unigram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;

base::Result<std::vector<TokenId>> encode(const WordModel& model, std::string_view word) {
  std::vector<TokenId> ids;
  const base::Status status = model.encode(std::vector{word}, ids);
  if (!status) return status.error();
  return ids;
}

TEST(UnigramTest, TakesTheSegmentationOfTheGreatestScore) {
  const auto vocabulary = make_vocabulary({"a", "b", "c", "ab", "bc", "abc"});
  const Unigram whole(*vocabulary, {-1, -1, -1, -1.5, -1.5, -2}, {});
  EXPECT_THAT(*encode(whole, "abc"), ElementsAre(5));
  const Unigram right(*vocabulary, {-1, -1, -1, -1.9, -1.5, -9}, {});
  EXPECT_THAT(*encode(right, "abc"), ElementsAre(0, 4));
}

TEST(UnigramTest, ARunOfUnknownCharactersIsOneUnknownToken) {
  const auto vocabulary = make_vocabulary({"<unk>", "a"});
  const Unigram model(*vocabulary, {0, -1}, {.unknown = 0});
  EXPECT_THAT(*encode(model,
                      "xy\xC3\xA9"
                      "axx"),
              ElementsAre(0, 1, 0));
}

TEST(UnigramTest, UnknownCharactersFallBackToBytes) {
  const auto vocabulary = make_vocabulary({"<unk>", "a"});
  ASSERT_TRUE(vocabulary->add(2, "\xC3", TokenKind::kByte).ok());
  ASSERT_TRUE(vocabulary->add(3, "\xA9", TokenKind::kByte).ok());
  const Unigram model(*vocabulary, {0, -1, -9, -9}, {0, *byte_token_ids(*vocabulary)});
  EXPECT_THAT(*encode(model, "a\xC3\xA9"), ElementsAre(1, 2, 3));
  EXPECT_THAT(*encode(model, "z"), ElementsAre(0));
}

TEST(UnigramTest, TextWithoutTokensIsAnErrorWhereThereIsNoUnknownToken) {
  const auto vocabulary = make_vocabulary({"a"});
  EXPECT_FALSE(encode(Unigram(*vocabulary, {-1}, {}), "ax").ok());
}

// The greatest sum of scores over all ways to cut `text` into tokens.
double best_score(const Vocabulary& vocabulary, const std::vector<double>& scores, std::string_view text) {
  if (text.empty()) return 0;
  double best = -1e300;
  for (std::size_t length = 1; length <= text.size(); ++length) {
    const auto id = vocabulary.find(text.substr(0, length));
    if (!id) continue;
    best = std::max(best, scores[static_cast<std::size_t>(*id)] + best_score(vocabulary, scores, text.substr(length)));
  }
  return best;
}

TEST(UnigramTest, AgreesWithASearchThroughAllSegmentations) {
  std::mt19937 random(3);
  const auto letter = [&] { return static_cast<char>('a' + random() % 2); };
  for (int round = 0; round < 50; ++round) {
    std::set<std::string> tokens = {"a", "b"};
    while (tokens.size() < 12) {
      std::string token;
      for (std::size_t length = 1 + random() % 4; token.size() < length;) token += letter();
      tokens.insert(token);
    }
    const auto vocabulary = make_vocabulary({tokens.begin(), tokens.end()});
    std::vector<double> scores;
    for (std::size_t i = 0; i < tokens.size(); ++i) scores.push_back(-static_cast<double>(random() % 64) / 4);
    std::string word;
    while (word.size() < 12) word += letter();
    double score = 0;
    std::string joined;
    const auto ids = encode(Unigram(*vocabulary, scores, {}), word);
    for (const TokenId id : *ids) {
      score += scores[static_cast<std::size_t>(id)];
      joined += vocabulary->bytes(id);
    }
    EXPECT_EQ(joined, word);
    EXPECT_EQ(score, best_score(*vocabulary, scores, word)) << word;
  }
}

}  // namespace
}  // namespace trireme::tokenizer
