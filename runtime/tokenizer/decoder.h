// TokenDecoder: how tokens become text again: the decoder of tokenizer.json, token by token, so that text can stream.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/tokenizer/regex.h"

namespace trireme::tokenizer {

// The token's characters stand for bytes, in GPT-2's alphabet.
struct ByteLevelDecode {};

// "##ing" goes on with a word; without the prefix a word begins, after a space.
struct WordPieceDecode {
  std::string prefix = "##";
  bool cleanup = true;  // takes out the spaces that English does not have before punctuation and contractions
};

// `replacement` stands for a space; the first token of a text loses it, where encoding put one before the text.
struct MetaspaceDecode {
  std::string replacement;
  bool drop_at_start = false;
};

// `suffix` ends a word: a space follows, if a token does.
struct WordEndDecode {
  std::string suffix;
};

struct ReplaceDecode {
  Regex pattern;
  std::string replacement;
};

// Takes up to so many times `content` from a text's beginning and end.
struct StripDecode {
  std::string content;  // one character
  std::size_t at_start = 0;
  std::size_t at_end = 0;
};

using DecoderStep =
    std::variant<ByteLevelDecode, WordPieceDecode, MetaspaceDecode, WordEndDecode, ReplaceDecode, StripDecode>;

class TokenDecoder {
 public:
  TokenDecoder() = default;  // tokens as they are
  // `of_token`: applied to each token. `of_text`: applied to the beginning of the whole text, that is to the first
  // token; their `at_end` is 0, since the end of a text that streams is not known.
  explicit TokenDecoder(std::vector<DecoderStep> of_token, std::vector<StripDecode> of_text = {},
                        bool spaces_between = false)
      : of_token_(std::move(of_token)), of_text_(std::move(of_text)), spaces_between_(spaces_between) {}

  std::string apply(std::string_view token, bool at_start) const;
  // What apply() does to a token that stands for a byte.
  std::string apply_to_byte(std::string byte, bool at_start) const;
  // Whether a space comes between `token` and the one after it.
  bool ends_word(std::string_view token) const;

 private:
  std::vector<DecoderStep> of_token_;
  std::vector<StripDecode> of_text_;
  bool spaces_between_ = false;
};

// "▁" stands for a space; a text's first space goes where encoding put one before the text.
TokenDecoder metaspace_decoder(bool strip_leading_space);

}  // namespace trireme::tokenizer
