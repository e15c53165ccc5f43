#include "runtime/tokenizer/utf8.h"

#include <algorithm>

namespace trireme::tokenizer {
namespace {

struct LeadByte {
  std::size_t length = 0;           // of the character; 0: not a lead byte
  unsigned char second_min = 0x80;  // what the second byte may be; the others are 80..BF
  unsigned char second_max = 0xBF;
};

LeadByte lead_byte(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // no overlong forms
  if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // not above U+10FFFF
  return {0};
}

}  // namespace

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

Utf8Character first_character(std::string_view text) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const LeadByte lead = lead_byte(byte_at(0));
  if (lead.length == 0) return {Utf8Status::kInvalid, 1};
  if (lead.length == 1) return {Utf8Status::kValid, 1, byte_at(0)};
  char32_t code_point = byte_at(0) & (0x7F >> lead.length);
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {Utf8Status::kIncomplete, i};
    const unsigned char min = i == 1 ? lead.second_min : 0x80;
    const unsigned char max = i == 1 ? lead.second_max : 0xBF;
    if (byte_at(i) < min || byte_at(i) > max) return {Utf8Status::kInvalid, i};
    code_point = code_point << 6 | (byte_at(i) & 0x3F);
  }
  return {Utf8Status::kValid, lead.length, code_point};
}

bool is_one_character(std::string_view text) {
  if (text.empty()) return false;
  const Utf8Character character = first_character(text);
  return character.status == Utf8Status::kValid && character.bytes == text.size();
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Utf8Character character = first_character(text.substr(i));
    if (character.status != Utf8Status::kValid) return i;
    i += character.bytes;
  }
  return std::nullopt;
}

void append_utf8(char32_t code_point, std::string& output) {
  const auto continuation = [&](int shift) { return static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    output += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    output += static_cast<char>(0xC0 | code_point >> 6);
    output += continuation(0);
  } else if (code_point < 0x10000) {
    output += static_cast<char>(0xE0 | code_point >> 12);
    output += continuation(6);
    output += continuation(0);
  } else {
    output += static_cast<char>(0xF0 | code_point >> 18);
    output += continuation(12);
    output += continuation(6);
    output += continuation(0);
  }
}

char32_t last_code_point(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return first_character(text.substr(begin)).code_point;
}

}  // namespace trireme::tokenizer
