// PrefixIndex: which of many strings a text begins with, one array, 4 bytes for each string. The strings lie in sorted
// order; one byte more of the text narrows the range of those that still match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

class PrefixIndex {
 public:
  PrefixIndex() = default;
  // Of those `tokens` whose bytes begin with `prefix`: looked for without it. No two have the same bytes; empty ones
  // are left out. `vocabulary` outlives this.
  PrefixIndex(const Vocabulary& vocabulary, std::vector<TokenId> tokens, std::string_view prefix);

  // Calls `found(token, length)` for each string that `text` begins with, from the shortest to the longest.
  template <typename Found>
  void find_prefixes(std::string_view text, const Found& found) const {
    Range range{0, tokens_.size()};
    for (std::size_t length = 1; length <= text.size(); ++length) {
      range = length == 1 ? of_first_byte(text[0]) : narrow(range, length - 1, text[length - 1]);
      if (range.begin == range.end) return;
      if (bytes(range.begin).size() != length) continue;
      found(tokens_[range.begin], length);
      ++range.begin;
    }
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::string_view bytes(std::size_t i) const { return vocabulary_->bytes(tokens_[i]).substr(prefix_bytes_); }
  Range of_first_byte(char byte) const;
  // Those of `range`, all longer than `depth` and equal before it, that have `byte` there.
  Range narrow(Range range, std::size_t depth, char byte) const;

  const Vocabulary* vocabulary_ = nullptr;
  std::size_t prefix_bytes_ = 0;
  std::vector<TokenId> tokens_;                                            // in the order of their bytes
  std::vector<std::uint32_t> first_ = std::vector<std::uint32_t>(257, 0);  // by first byte: where they begin
};

}  // namespace trireme::tokenizer
