// SentencePieceBpe: byte-pair encoding over characters, as SentencePiece does it (Kudo and Richardson 2018): pairs are
// merged by rank (tokenizer.json) or by the score of what they become (GGUF), and characters that no token covers fall
// back to byte tokens.
#pragma once

#include <array>
#include <optional>
#include <variant>

#include "runtime/tokenizer/merge_loop.h"
#include "runtime/tokenizer/merges.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

using TokenScores = std::vector<float>;  // by id; the highest is merged first

class SentencePieceBpe final : public WordModel {
 public:
  struct Options {
    bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
    bool fuse_unknown = true;    // one unknown token for a run of unknown characters
    std::optional<TokenId> unknown;
    std::array<TokenId, 256> byte_ids;  // kNoToken where the vocabulary has none
  };

  // `vocabulary` outlives this. Scores are finite.
  SentencePieceBpe(const Vocabulary& vocabulary, std::variant<MergeTable, TokenScores> order, Options options);
  void encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  void encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const;
  void append(std::string_view word, const MergeScratch& scratch, std::vector<TokenId>& ids) const;
  bool append_bytes(std::string_view character, std::vector<TokenId>& ids) const;

  const Vocabulary& vocabulary_;
  std::variant<MergeTable, TokenScores> order_;
  Options options_;
};

// The byte that a token named "<0xNN>" stands for, with upper-case hexadecimal digits.
std::optional<unsigned char> parse_byte_token(std::string_view token);

}  // namespace trireme::tokenizer
