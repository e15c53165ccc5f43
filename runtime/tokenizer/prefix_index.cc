#include "runtime/tokenizer/prefix_index.h"

#include <algorithm>
#include <utility>

namespace trireme::tokenizer {
namespace {

unsigned char as_byte(char character) {
  return static_cast<unsigned char>(character);
}

}  // namespace

PrefixIndex::PrefixIndex(const Vocabulary& vocabulary, std::vector<TokenId> tokens, std::string_view prefix)
    : vocabulary_(&vocabulary), prefix_bytes_(prefix.size()), tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [&](TokenId token) {
    const std::string_view bytes = vocabulary.bytes(token);
    return !bytes.starts_with(prefix) || bytes.size() == prefix.size();
  });
  // std::string_view compares bytes as unsigned.
  std::sort(tokens_.begin(), tokens_.end(),
            [&](TokenId a, TokenId b) { return vocabulary.bytes(a) < vocabulary.bytes(b); });
  for (std::size_t i = 0; i < tokens_.size(); ++i) ++first_[std::size_t{as_byte(bytes(i)[0])} + 1];
  for (std::size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

PrefixIndex::Range PrefixIndex::of_first_byte(char byte) const {
  return {first_[as_byte(byte)], first_[std::size_t{as_byte(byte)} + 1]};
}

PrefixIndex::Range PrefixIndex::narrow(Range range, std::size_t depth, char byte) const {
  const auto first_not_below = [&](std::size_t begin, std::size_t end, int limit) {
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (as_byte(bytes(middle)[depth]) < limit) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  };
  const int value = as_byte(byte);
  const std::size_t begin = first_not_below(range.begin, range.end, value);
  return {begin, first_not_below(begin, range.end, value + 1)};
}

}  // namespace trireme::tokenizer
