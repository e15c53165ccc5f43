#include "runtime/tokenizer/sentencepiece_bpe.h"

#include <utility>

#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
SentencePieceBpe::SentencePieceBpe(const Vocabulary& vocabulary, TokenScores scores, Options options)
    : vocabulary_(vocabulary), scores_(std::move(scores)), options_(options) {}

base::Status SentencePieceBpe::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  MergeScratch scratch;
  for (const std::string_view word : words) encode_word(word, scratch, ids);
  return base::ok_status();
}

void SentencePieceBpe::encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const {
  scratch.symbols.clear();
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t bytes = first_character(word.substr(begin)).bytes;
    scratch.add_symbol(vocabulary_.find_text(word.substr(begin, bytes)).value_or(kNoToken), begin, bytes);
    begin += bytes;
  }
  merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) -> std::optional<std::pair<float, TokenId>> {
    const std::size_t bytes = left.bytes + right.bytes;
    if (bytes > vocabulary_.max_indexed_bytes()) return std::nullopt;
    const auto id = vocabulary_.find_text(word.substr(left.begin, bytes));
    if (!id) return std::nullopt;
    return std::pair(-scores_[static_cast<std::size_t>(*id)], *id);
  });
  append(word, scratch, ids);
}

void SentencePieceBpe::append(std::string_view word, const MergeScratch& scratch, std::vector<TokenId>& ids) const {
  bool after_unknown = false;
  for (std::int32_t i = 0; i >= 0; i = scratch.symbols[static_cast<std::size_t>(i)].next) {
    const Symbol& symbol = scratch.symbols[static_cast<std::size_t>(i)];
    if (symbol.id != kNoToken) {
      ids.push_back(symbol.id);
    } else if (!append_bytes(word.substr(symbol.begin, symbol.bytes), options_.byte_ids, ids)) {
      if (options_.unknown && !(after_unknown && options_.fuse_unknown)) ids.push_back(*options_.unknown);
      after_unknown = true;
      continue;
    }
    after_unknown = false;
  }
}

}  // namespace trireme::tokenizer
