// ByteLevelBpe: byte-pair encoding over bytes (Radford et al. 2019, section 2.2), as GPT-2, Llama 3 and Qwen use it.
#pragma once

#include <array>
#include <optional>

#include "runtime/tokenizer/merge_loop.h"
#include "runtime/tokenizer/merges.h"
#include "runtime/tokenizer/vocabulary.h"
#include "runtime/tokenizer/word_model.h"

namespace trireme::tokenizer {

class ByteLevelBpe final : public WordModel {
 public:
  struct Options {
    bool ignore_merges = false;      // a word that is a token is that token, whatever the merges say
    std::optional<TokenId> unknown;  // for bytes without a token; without it such bytes are left out, as elsewhere
  };

  // `vocabulary` holds bytes, not their alphabet, and outlives this.
  ByteLevelBpe(const Vocabulary& vocabulary, MergeTable merges, Options options);
  std::string_view kind() const override { return "byte-level BPE"; }
  base::Status encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const override;

 private:
  void encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const;

  const Vocabulary& vocabulary_;
  MergeTable merges_;
  Options options_;
  std::array<TokenId, 256> byte_ids_;
};

}  // namespace trireme::tokenizer
