// WordPiece: a word is cut from its beginning into the longest tokens that fit (Devlin et al. 2019); what goes on with
// a word has a prefix in the vocabulary ("##ing"). A word that cannot be cut is one unknown token.
#pragma once

#include <string>

#include "runtime/tokenizer/prefix_index.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

class WordPiece final : public WordModel {
 public:
  struct Options {
    TokenId unknown = 0;
    std::string continuation_prefix = "##";
    std::size_t max_word_characters = 100;  // a longer word is unknown
  };

  // `vocabulary` outlives this.
  WordPiece(const Vocabulary& vocabulary, Options options);
  std::string_view kind() const override { return "WordPiece"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  bool encode_word(std::string_view word, std::vector<TokenId>& ids) const;

  Options options_;
  PrefixIndex beginnings_;
  PrefixIndex continuations_;
};

// WordLevel: a word is a token, or unknown; without an unknown token it is left out.
class WordLevel final : public WordModel {
 public:
  WordLevel(const Vocabulary& vocabulary, std::optional<TokenId> unknown)
      : vocabulary_(vocabulary), unknown_(unknown) {}
  std::string_view kind() const override { return "WordLevel"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  const Vocabulary& vocabulary_;
  std::optional<TokenId> unknown_;
};

}  // namespace trireme::tokenizer
