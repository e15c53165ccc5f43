// WordModel: what turns the pre-tokenizer's words into token ids: a kind of BPE, Unigram, WordPiece.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {

class WordModel {
 public:
  virtual ~WordModel() = default;
  virtual std::string_view kind() const = 0;  // "Unigram"
  // Appends the ids of each word, none of which is empty and each valid UTF-8. Any thread. Error: a text that the model
  // has no tokens for, and no unknown token either.
  virtual base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const = 0;
};

}  // namespace trireme::tokenizer
