// Vocabulary: token id ↔ bytes, compact: all bytes lie in one arena, and the index from bytes to ids is one flat table.
// Ids need not be contiguous: an id without a token is unused, has no bytes and is never produced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {

inline constexpr TokenId kNoToken = -1;

enum class TokenKind : std::uint8_t {
  kUnused,
  kNormal,
  kByte,         // stands for one byte, where no other token covers a character
  kUserDefined,  // split out of the text before anything else; ordinary text
  kSpecial,      // as kUserDefined, but a control token: text becomes one only where the caller allows it
};

class Vocabulary {
 public:
  static constexpr TokenId kMaxSize = 1 << 22;
  static constexpr std::size_t kMaxTokenBytes = 1 << 16;

  void reserve(std::size_t num_tokens, std::size_t num_bytes);
  // Errors: an id out of range or taken, a token that is too long.
  base::Status add(TokenId id, std::string_view bytes, TokenKind kind);
  // Makes `id` findable by its bytes. Error: another token with the same bytes is.
  base::Status index(TokenId id);
  void set_kind(TokenId id, TokenKind kind) { kinds_[static_cast<std::size_t>(id)] = kind; }

  TokenId size() const { return static_cast<TokenId>(kinds_.size()); }  // the greatest id + 1
  bool contains(TokenId id) const { return id >= 0 && id < size(); }
  std::string_view bytes(TokenId id) const;  // empty for ids that are not in the vocabulary
  TokenKind kind(TokenId id) const { return contains(id) ? kinds_[static_cast<std::size_t>(id)] : TokenKind::kUnused; }
  std::size_t max_indexed_bytes() const { return max_indexed_bytes_; }  // length of the longest indexed token

  std::optional<TokenId> find(std::string_view bytes) const;  // among all indexed tokens
  // What ordinary text may become: not a special token.
  std::optional<TokenId> find_text(std::string_view bytes) const;
  std::vector<TokenId> text_tokens() const;  // all that find_text() may return

 private:
  static constexpr TokenId kEmpty = -1;
  std::size_t slot_of(std::string_view bytes) const;
  void grow_table();

  struct Extent {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
  };
  std::string arena_;
  std::vector<Extent> extents_;   // by id
  std::vector<TokenKind> kinds_;  // by id
  std::vector<TokenId> table_;    // open addressing with linear probing; the size is a power of two
  std::size_t num_indexed_ = 0;
  std::size_t max_indexed_bytes_ = 0;
};

}  // namespace trireme::tokenizer
