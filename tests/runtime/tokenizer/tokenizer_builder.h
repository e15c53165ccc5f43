// Small tokenizers for tests, put together from their parts.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tokenizer/merges.h"
#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

// Tokens with the ids 0, 1, …, all findable.
inline std::unique_ptr<Vocabulary> make_vocabulary(const std::vector<std::string>& tokens) {
  auto vocabulary = std::make_unique<Vocabulary>();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    EXPECT_TRUE(vocabulary->add(id, tokens[i], TokenKind::kNormal).ok());
    EXPECT_TRUE(vocabulary->index(id).ok());
  }
  return vocabulary;
}

inline MergeTable make_merges(const Vocabulary& vocabulary,
                              const std::vector<std::pair<std::string, std::string>>& pairs) {
  MergeTable merges;
  for (const auto& [left, right] : pairs) EXPECT_TRUE(merges.add(vocabulary, left, right).ok());
  return merges;
}

inline std::string repeat(std::string_view unit, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += unit;
  return text;
}

}  // namespace trireme::tokenizer
