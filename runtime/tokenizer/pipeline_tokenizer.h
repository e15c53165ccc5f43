// PipelineTokenizer: the one kind of Tokenizer: added tokens are split out, the text between them is normalised and cut
// into words, a model turns words into ids, and a post-processor adds BOS and EOS. A loader puts the parts together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tokenizer/added_tokens.h"
#include "runtime/tokenizer/decoder.h"
#include "runtime/tokenizer/normalizer.h"
#include "runtime/tokenizer/pre_tokenizer.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

struct TokenizerParts {
  std::unique_ptr<Vocabulary> vocabulary;  // the model refers to it and is destroyed before it
  AddedTokens added_tokens;                // looked for in the text as it is
  AddedTokens normalized_added_tokens;     // looked for in normalised text
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<WordModel> model;
  TokenDecoder decoder;
  std::vector<TokenId> prefix;  // what the post-processor puts before the text
  std::vector<TokenId> suffix;  // and after it
  std::optional<TokenId> bos, eos;
  std::vector<TokenId> end_of_generation;  // ascending, without duplicates
};

class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);

  base::Result<std::vector<TokenId>> encode(std::string_view text, EncodeOptions options) const override;
  std::string decode(std::span<const TokenId> tokens, bool skip_special) const override;
  std::string token_bytes(TokenId token, bool at_start) const override;
  bool ends_word(TokenId token) const override { return parts_.decoder.ends_word(parts_.vocabulary->bytes(token)); }

  std::string_view kind() const override { return parts_.model->kind(); }
  std::int32_t vocab_size() const override { return parts_.vocabulary->size(); }
  bool is_special(TokenId token) const override { return parts_.vocabulary->kind(token) == TokenKind::kSpecial; }
  std::vector<std::size_t> special_offsets(std::string_view text) const override {
    return parts_.added_tokens.special_offsets(text);
  }
  std::optional<TokenId> token_id(std::string_view content) const override;
  std::optional<TokenId> bos() const override { return parts_.bos; }
  std::optional<TokenId> eos() const override { return parts_.eos; }
  const std::vector<TokenId>& end_of_generation() const override { return parts_.end_of_generation; }

 private:
  base::Status encode_text(std::string_view text, SpecialTokens mode, bool at_text_start,
                           std::vector<TokenId>& ids) const;
  void add_special(std::vector<TokenId>& ids) const;

  TokenizerParts parts_;
};

}  // namespace trireme::tokenizer
