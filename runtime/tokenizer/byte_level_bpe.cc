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
  merges_.apply(scratch, ids);
}

}  // namespace trireme::tokenizer
