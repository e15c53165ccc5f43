#include "runtime/tokenizer/sentencepiece_bpe.h"

#include <utility>

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

using RankedPair = std::optional<std::pair<float, TokenId>>;

void merge_by_rank(const MergeTable& merges, MergeScratch& scratch) {
  merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) -> RankedPair {
    if (left.id == kNoToken || right.id == kNoToken) return std::nullopt;
    const Merge* merge = merges.find(left.id, right.id);
    if (merge == nullptr) return std::nullopt;
    return std::pair(static_cast<float>(merge->rank), merge->merged);
  });
}

void merge_by_score(const Vocabulary& vocabulary, const TokenScores& scores, std::string_view word,
                    MergeScratch& scratch) {
  merge_symbols(scratch, [&](const Symbol& left, const Symbol& right) -> RankedPair {
    const std::size_t bytes = left.bytes + right.bytes;
    if (bytes > vocabulary.max_indexed_bytes()) return std::nullopt;
    const auto id = vocabulary.find_text(word.substr(left.begin, bytes));
    if (!id) return std::nullopt;
    return std::pair(-scores[static_cast<std::size_t>(*id)], *id);
  });
}

}  // namespace

SentencePieceBpe::SentencePieceBpe(const Vocabulary& vocabulary, std::variant<MergeTable, TokenScores> order,
                                   Options options)
    : vocabulary_(vocabulary), order_(std::move(order)), options_(options) {}

void SentencePieceBpe::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  MergeScratch scratch;
  for (const std::string_view word : words) encode_word(word, scratch, ids);
}

void SentencePieceBpe::encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary_.find_text(word)) {
      ids.push_back(*id);
      return;
    }
  }
  scratch.symbols.clear();
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t bytes = first_character(word.substr(begin)).bytes;
    scratch.add_symbol(vocabulary_.find_text(word.substr(begin, bytes)).value_or(kNoToken), begin, bytes);
    begin += bytes;
  }
  if (const auto* merges = std::get_if<MergeTable>(&order_)) {
    merge_by_rank(*merges, scratch);
  } else {
    merge_by_score(vocabulary_, std::get<TokenScores>(order_), word, scratch);
  }
  append(word, scratch, ids);
}

void SentencePieceBpe::append(std::string_view word, const MergeScratch& scratch, std::vector<TokenId>& ids) const {
  bool after_unknown = false;
  for (std::int32_t i = 0; i >= 0; i = scratch.symbols[static_cast<std::size_t>(i)].next) {
    const Symbol& symbol = scratch.symbols[static_cast<std::size_t>(i)];
    if (symbol.id != kNoToken) {
      ids.push_back(symbol.id);
    } else if (!append_bytes(word.substr(symbol.begin, symbol.bytes), ids)) {
      if (options_.unknown && !(after_unknown && options_.fuse_unknown)) ids.push_back(*options_.unknown);
      after_unknown = true;
      continue;
    }
    after_unknown = false;
  }
}

bool SentencePieceBpe::append_bytes(std::string_view character, std::vector<TokenId>& ids) const {
  for (const char byte : character) {
    if (options_.byte_ids[static_cast<unsigned char>(byte)] == kNoToken) return false;
  }
  for (const char byte : character) ids.push_back(options_.byte_ids[static_cast<unsigned char>(byte)]);
  return true;
}

std::optional<unsigned char> parse_byte_token(std::string_view token) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  const std::size_t high = kDigits.find(token[3]);
  const std::size_t low = kDigits.find(token[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned char>(16 * high + low);
}

}  // namespace trireme::tokenizer
