// AddedTokens: tokens that are split out of a text before the model sees it, such as "<|im_end|>". Where several could
// begin at one place, the longest is taken; time is linear in the length of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

struct AddedToken {
  std::string content;  // what is looked for; not empty
  TokenId id = 0;
  bool special = false;
  bool single_word = false;  // only where no letter or digit touches it
  bool lstrip = false;       // takes the whitespace before it along
  bool rstrip = false;       // takes the whitespace after it along
};

// A part of a text: an added token, or ordinary text between them.
struct TextSegment {
  std::string_view text;
  std::optional<TokenId> token;
};

class AddedTokens {
 public:
  AddedTokens() : AddedTokens(std::vector<AddedToken>{}) {}
  // Of two tokens with the same content the first one counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // Which special tokens are ordinary text: with kAsText all, else those that begin at `literal_offsets`, ascending.
  struct SplitOptions {
    SpecialTokens special = SpecialTokens::kRecognise;
    std::span<const std::size_t> literal_offsets = {};
  };
  // Appends the parts of `text`, valid UTF-8, none of them empty.
  void split(std::string_view text, const SplitOptions& options, std::vector<TextSegment>& segments) const;
  // Where special tokens begin in `text`.
  std::vector<std::size_t> special_offsets(std::string_view text) const;
  std::optional<TokenId> find(std::string_view content) const;
  bool empty() const { return tokens_.empty(); }

 private:
  static constexpr std::int32_t kNone = -1;
  std::int32_t child(std::int32_t node, char byte) const;
  struct Match {
    std::size_t offset;
    const AddedToken* token;
  };
  // The first token at or after `from`; no matter whether it counts.
  std::optional<Match> next_match(std::string_view text, std::size_t from) const;
  std::int32_t longest_match(std::string_view text) const;  // index of the longest token that `text` begins with
  static bool is_single_word(std::string_view text, std::size_t begin, std::size_t end);

  std::vector<AddedToken> tokens_;
  std::vector<std::int32_t> token_at_;                        // by node of the trie: the token that ends here
  std::unordered_map<std::uint64_t, std::int32_t> children_;  // node << 8 | byte → node
  std::vector<std::int32_t> first_;                           // children of the root, by byte
};

// The special and user-defined tokens of a vocabulary, those without bytes left out.
AddedTokens added_tokens_of(const Vocabulary& vocabulary);

}  // namespace trireme::tokenizer
