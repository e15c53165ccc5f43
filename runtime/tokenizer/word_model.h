// WordModel: what turns the pre-tokenizer's words into token ids: a kind of BPE, later Unigram or WordPiece.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {

class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the ids of each word, none of which is empty and each valid UTF-8. Any thread.
  virtual void encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const = 0;
};

}  // namespace trireme::tokenizer
