#include "runtime/tokenizer/ranked_bpe.h"

#include <utility>

#include "runtime/tokenizer/byte_fallback.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {

RankedBpe::RankedBpe(const Vocabulary& vocabulary, MergeTable merges, Options options)
    : vocabulary_(vocabulary), merges_(std::move(merges)), options_(std::move(options)) {}

base::Status RankedBpe::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  MergeScratch scratch;
  for (const std::string_view word : words) encode_word(word, scratch, ids);
  return base::ok_status();
}

void RankedBpe::encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary_.find_text(word)) {
      ids.push_back(*id);
      return;
    }
  }
  scratch.symbols.clear();
  add_symbols(word, scratch);
  merges_.apply(scratch, ids);
}

// Symbols count their bytes within the word, without prefix and suffix.
void RankedBpe::add_symbols(std::string_view word, MergeScratch& scratch) const {
  std::vector<TokenId> bytes;
  std::size_t unknown_bytes = 0;  // of unknown characters that still have to be added
  const auto flush_unknown = [&](std::size_t end) {
    if (unknown_bytes > 0) scratch.add_symbol(*options_.unknown, end - unknown_bytes, unknown_bytes);
    unknown_bytes = 0;
  };
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string_view character = word.substr(begin, first_character(word.substr(begin)).bytes);
    const std::size_t end = begin + character.size();
    bytes.clear();
    if (const auto id = character_id(character, begin == 0, end == word.size())) {
      flush_unknown(begin);
      scratch.add_symbol(*id, begin, character.size());
    } else if (append_bytes(character, options_.byte_ids, bytes)) {
      flush_unknown(begin);
      for (std::size_t i = 0; i < bytes.size(); ++i) scratch.add_symbol(bytes[i], begin + i, 1);
    } else if (options_.unknown) {
      if (!options_.fuse_unknown) flush_unknown(begin);
      unknown_bytes += character.size();
    } else {
      flush_unknown(begin);
    }
    begin = end;
  }
  flush_unknown(word.size());
}

std::optional<TokenId> RankedBpe::character_id(std::string_view character, bool first, bool last) const {
  const bool with_prefix = !first && !options_.continuation_prefix.empty();
  const bool with_suffix = last && !options_.word_end_suffix.empty();
  if (!with_prefix && !with_suffix) return vocabulary_.find_text(character);
  std::string token = with_prefix ? options_.continuation_prefix : std::string();
  token += character;
  if (with_suffix) token += options_.word_end_suffix;
  return vocabulary_.find_text(token);
}

}  // namespace trireme::tokenizer
