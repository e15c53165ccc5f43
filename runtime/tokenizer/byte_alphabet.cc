#include "runtime/tokenizer/byte_alphabet.h"

#include <array>

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

constexpr int kNumCharacters = 256 + 68;  // 188 bytes stand for themselves, the other 68 are U+0100 and on

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<int, kNumCharacters> make_bytes_by_character() {
  std::array<int, kNumCharacters> bytes{};
  bytes.fill(-1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[static_cast<std::size_t>(stands_for_itself(byte) ? byte : next++)] = byte;
  }
  return bytes;
}

constexpr std::array<int, kNumCharacters> kBytesByCharacter = make_bytes_by_character();

constexpr std::array<char32_t, 256> make_characters_by_byte() {
  std::array<char32_t, 256> characters{};
  for (std::size_t character = 0; character < kNumCharacters; ++character) {
    const int byte = kBytesByCharacter[character];
    if (byte >= 0) characters[static_cast<std::size_t>(byte)] = static_cast<char32_t>(character);
  }
  return characters;
}

constexpr std::array<char32_t, 256> kCharactersByByte = make_characters_by_byte();

}  // namespace

std::optional<std::string> bytes_from_alphabet(std::string_view token) {
  std::string bytes;
  bytes.reserve(token.size());
  while (!token.empty()) {
    const Utf8Character character = first_character(token);
    if (character.status != Utf8Status::kValid || character.code_point >= kNumCharacters) return std::nullopt;
    const int byte = kBytesByCharacter[character.code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    token.remove_prefix(character.bytes);
  }
  return bytes;
}

std::string to_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) append_utf8(kCharactersByByte[static_cast<unsigned char>(byte)], text);
  return text;
}

}  // namespace trireme::tokenizer
