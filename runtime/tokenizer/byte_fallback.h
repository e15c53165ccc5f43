// Byte tokens, "<0x00>" … "<0xFF>", which stand for one byte of a character that no other token covers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

using ByteTokenIds = std::array<TokenId, 256>;  // by byte; kNoToken where the vocabulary has none

inline constexpr ByteTokenIds kNoByteTokens = [] {
  ByteTokenIds ids{};
  ids.fill(kNoToken);
  return ids;
}();

// The byte that a token named "<0xNN>" stands for, with upper-case hexadecimal digits.
std::optional<unsigned char> parse_byte_token(std::string_view token);

// The byte itself. Error: `token` is not such a token.
base::Result<std::string> byte_of_token(std::string_view token);

// The tokens of kind kByte. Error: a byte has two.
base::Result<ByteTokenIds> byte_token_ids(const Vocabulary& vocabulary);

// Appends the tokens of all bytes of `text`; if one of them has none, appends nothing and returns false.
bool append_bytes(std::string_view text, const ByteTokenIds& byte_ids, std::vector<TokenId>& ids);

}  // namespace trireme::tokenizer
