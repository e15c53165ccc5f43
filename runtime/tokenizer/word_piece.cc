#include "runtime/tokenizer/word_piece.h"

#include <utility>

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {

WordPiece::WordPiece(const Vocabulary& vocabulary, Options options)
    : options_(std::move(options)),
      beginnings_(vocabulary, vocabulary.text_tokens(), ""),
      continuations_(vocabulary, vocabulary.text_tokens(), options_.continuation_prefix) {}

base::Status WordPiece::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  for (const std::string_view word : words) {
    const std::size_t before = ids.size();
    if (num_characters(word) <= options_.max_word_characters && encode_word(word, ids)) continue;
    ids.resize(before);
    ids.push_back(options_.unknown);
  }
  return base::ok_status();
}

bool WordPiece::encode_word(std::string_view word, std::vector<TokenId>& ids) const {
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t longest = 0;
    const PrefixIndex& index = begin == 0 ? beginnings_ : continuations_;
    index.find_prefixes(word.substr(begin), [&](TokenId token, std::size_t length) {
      if (longest == 0) {
        ids.push_back(token);
      } else {
        ids.back() = token;
      }
      longest = length;
    });
    if (longest == 0) return false;
    begin += longest;
  }
  return true;
}

base::Status WordLevel::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  for (const std::string_view word : words) {
    std::optional<TokenId> id = vocabulary_.find_text(word);
    if (!id) id = unknown_;
    if (id) ids.push_back(*id);
  }
  return base::ok_status();
}

}  // namespace trireme::tokenizer
