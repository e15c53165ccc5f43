// SentencePieceBpe: byte-pair encoding over characters, as SentencePiece does it (Kudo and Richardson 2018) and GGUF
// describes it: the pair is merged first that becomes the token of the highest score, and characters that no token
// covers fall back to byte tokens.
#pragma once

#include <optional>

#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/merge_loop.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

using TokenScores = std::vector<float>;  // by id; the highest is merged first

class SentencePieceBpe final : public WordModel {
 public:
  struct Options {
    bool fuse_unknown = true;  // one unknown token for a run of unknown characters
    std::optional<TokenId> unknown;
    ByteTokenIds byte_ids = kNoByteTokens;  // for such characters instead
  };

  // `vocabulary` outlives this. Scores are finite.
  SentencePieceBpe(const Vocabulary& vocabulary, TokenScores scores, Options options);
  std::string_view kind() const override { return "SentencePiece BPE"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  void encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const;
  void append(std::string_view word, const MergeScratch& scratch, std::vector<TokenId>& ids) const;

  const Vocabulary& vocabulary_;
  TokenScores scores_;
  Options options_;
};

}  // namespace trireme::tokenizer
