// PrecompiledCharsmap: SentencePiece's table of normalisations, as tokenizer.json carries it ("Precompiled"): a
// double-array trie (Aoe 1989, in the layout of darts-clone) from characters to offsets of their replacements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trireme::tokenizer {

class PrecompiledCharsmap {
 public:
  // The table as a SentencePiece model has it, or, in base64, tokenizer.json. Error: it is damaged.
  static base::Result<PrecompiledCharsmap> parse(std::string_view bytes);
  static base::Result<PrecompiledCharsmap> parse_base64(std::string_view text);

  // Replaces grapheme clusters of less than 6 bytes, else single characters, by what the table has for the shortest of
  // their beginnings: what Hugging Face's tokenizers do, and models that are used with them expect. `text`: valid
  // UTF-8.
  std::string apply(std::string_view text) const;

  // Whether who follows the trie without looking at its bounds, as libsentencepiece does, stays within it and the
  // texts.
  bool is_sound() const;

 private:
  PrecompiledCharsmap(std::vector<std::uint32_t> trie, std::string texts)
      : trie_(std::move(trie)), texts_(std::move(texts)) {}
  std::optional<std::string_view> replacement(std::string_view part) const;
  void append_cluster(std::string_view cluster, std::string& output) const;

  std::vector<std::uint32_t> trie_;
  std::string texts_;  // valid UTF-8, each replacement ended by a NUL
};

}  // namespace trireme::tokenizer
