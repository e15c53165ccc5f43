// Unigram: the segmentation of a word whose tokens have the greatest sum of scores (Kudo 2018, section 3.2), found by
// Viterbi's algorithm in one pass: time is linear in the text, times the length of the longest token that fits.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/prefix_index.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

class Unigram final : public WordModel {
 public:
  struct Options {
    std::optional<TokenId> unknown;  // one for a run of characters that no token covers; without it they are an error
    ByteTokenIds byte_ids = kNoByteTokens;  // for such characters instead
  };

  // `scores`: by id, finite. `vocabulary` outlives this.
  Unigram(const Vocabulary& vocabulary, std::vector<double> scores, Options options);
  std::string_view kind() const override { return "Unigram"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  // The best segmentation of what ends at one byte of the word.
  struct Path {
    double score = 0;
    std::uint32_t last_bytes = 0;  // length of its last token; 0: nothing ends here
    TokenId last = 0;
  };
  void search(std::string_view word, std::vector<Path>& paths) const;
  base::Status append(std::string_view piece, TokenId token, std::vector<TokenId>& ids) const;

  const Vocabulary& vocabulary_;
  PrefixIndex index_;
  std::vector<double> scores_;
  Options options_;
  double unknown_score_;
};

}  // namespace trireme::tokenizer
