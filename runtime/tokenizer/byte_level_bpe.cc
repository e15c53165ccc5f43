#include "runtime/tokenizer/byte_level_bpe.h"

#include <utility>

namespace trireme::tokenizer {

ByteLevelBpe::ByteLevelBpe(const Vocabulary& vocabulary, MergeTable merges, Options options)
    : vocabulary_(vocabulary), merges_(std::move(merges)), options_(options) {
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary.find_text({&text, 1}).value_or(options_.unknown.value_or(kNoToken));
  }
}

base::Status ByteLevelBpe::encode(std::span<const std::string_view> words, std::vector<TokenId>& ids) const {
  MergeScratch scratch;
  for (const std::string_view word : words) encode_word(word, scratch, ids);
  return base::ok_status();
}

void ByteLevelBpe::encode_word(std::string_view word, MergeScratch& scratch, std::vector<TokenId>& ids) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary_.find_text(word)) {
      ids.push_back(*id);
      return;
    }
  }
  scratch.symbols.clear();
  for (std::size_t i = 0; i < word.size(); ++i) {
    const TokenId id = byte_ids_[static_cast<unsigned char>(word[i])];
    if (id != kNoToken) scratch.add_symbol(id, i, 1);
  }
  if (scratch.symbols.empty()) return;
  merge_symbols(scratch, [this](const Symbol& left, const Symbol& right) -> std::optional<std::pair<float, TokenId>> {
    const Merge* merge = merges_.find(left.id, right.id);
    if (merge == nullptr) return std::nullopt;
    return std::pair(static_cast<float>(merge->rank), merge->merged);
  });
  for (std::int32_t i = 0; i >= 0; i = scratch.symbols[static_cast<std::size_t>(i)].next) {
    ids.push_back(scratch.symbols[static_cast<std::size_t>(i)].id);
  }
}

}  // namespace trireme::tokenizer
