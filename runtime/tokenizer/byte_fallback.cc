#include "runtime/tokenizer/byte_fallback.h"

#include <algorithm>
#include <string>

namespace trireme::tokenizer {

std::optional<unsigned char> parse_byte_token(std::string_view token) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  const std::size_t high = kDigits.find(token[3]);
  const std::size_t low = kDigits.find(token[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned char>(16 * high + low);
}

base::Result<std::string> byte_of_token(std::string_view token) {
  const auto byte = parse_byte_token(token);
  if (!byte) return base::invalid_argument("byte token \"" + std::string(token) + "\" is not <0xNN>");
  return std::string(1, static_cast<char>(*byte));
}

base::Result<ByteTokenIds> byte_token_ids(const Vocabulary& vocabulary) {
  ByteTokenIds ids = kNoByteTokens;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.kind(id) != TokenKind::kByte) continue;
    TokenId& slot = ids[static_cast<unsigned char>(vocabulary.bytes(id).front())];
    if (slot != kNoToken) {
      return base::invalid_argument("two tokens stand for one byte: " + std::to_string(slot) + " and " +
                                    std::to_string(id));
    }
    slot = id;
  }
  return ids;
}

bool append_bytes(std::string_view text, const ByteTokenIds& byte_ids, std::vector<TokenId>& ids) {
  const auto id_of = [&](char byte) { return byte_ids[static_cast<unsigned char>(byte)]; };
  if (std::any_of(text.begin(), text.end(), [&](char byte) { return id_of(byte) == kNoToken; })) return false;
  for (const char byte : text) ids.push_back(id_of(byte));
  return true;
}

}  // namespace trireme::tokenizer
