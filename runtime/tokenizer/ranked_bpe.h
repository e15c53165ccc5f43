// RankedBpe: byte-pair encoding over characters, in the order that a list of merges gives (Sennrich et al. 2016), as
// tokenizer.json describes it: words may mark where they go on and where they end, and characters that no token covers
// fall back to byte tokens or to an unknown token.
#pragma once

#include <optional>
#include <string>

#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/merge_loop.h"
#include "runtime/tokenizer/merges.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

class RankedBpe final : public WordModel {
 public:
  struct Options {
    bool ignore_merges = false;             // a word that is a token is that token, whatever the merges say
    bool fuse_unknown = false;              // one unknown token for a run of unknown characters
    std::string continuation_prefix;        // of each character but a word's first, in the vocabulary: "##"
    std::string word_end_suffix;            // of a word's last character, in the vocabulary: "</w>"
    std::optional<TokenId> unknown;         // without it, characters without a token are left out
    ByteTokenIds byte_ids = kNoByteTokens;  // for such characters instead
  };

  // `vocabulary` outlives this.
  RankedBpe(const Vocabulary& vocabulary, MergeTable merges, Options options);
  std::string_view kind() const override { return "BPE"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  void encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const;
  void add_symbols(std::string_view word, MergeScratch& scratch) const;
  std::optional<TokenId> character_id(std::string_view character, bool first, bool last) const;

  const Vocabulary& vocabulary_;
  MergeTable merges_;
  Options options_;
};

}  // namespace trireme::tokenizer
