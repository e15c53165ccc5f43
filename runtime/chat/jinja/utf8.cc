#include "runtime/chat/jinja/utf8.h"

#include <utf8proc.h>

#include <algorithm>

namespace trireme::chat::jinja {
namespace {

// Length of the character at the start of a non-empty text.
std::size_t character_length(std::string_view text) {
  utf8proc_int32_t code_point = 0;
  const auto size = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4));
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), size, &code_point);
  return length > 0 ? static_cast<std::size_t>(length) : 1;
}

template <typename Map>
std::string map_characters(std::string_view text, const Map& map) {
  std::string mapped;
  mapped.reserve(text.size());
  for (std::size_t pos = 0; pos < text.size();) {
    const std::string_view character = text.substr(pos, character_length(text.substr(pos)));
    map(character, mapped);
    pos += character.size();
  }
  return mapped;
}

void append_upper(std::string_view character, std::string& text) {
  const char32_t code_point = first_code_point(character);
  if (code_point == 0xDF) {
    text += "SS";
  } else if (code_point >= 0x80 && character.size() == 1) {
    text += character;
  } else {
    append_utf8(text, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code_point))));
  }
}

void append_lower(std::string_view character, std::string& text) {
  const char32_t code_point = first_code_point(character);
  if (code_point >= 0x80 && character.size() == 1) {
    text += character;
  } else {
    append_utf8(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point))));
  }
}

utf8proc_category_t category(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

}  // namespace

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t pos = 0; pos < text.size(); ++count) pos += character_length(text.substr(pos));
  return count;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  for (std::size_t pos = 0; pos < text.size(); pos += result.back().size()) {
    result.push_back(text.substr(pos, character_length(text.substr(pos))));
  }
  return result;
}

char32_t first_code_point(std::string_view character) {
  utf8proc_int32_t code_point = 0;
  const auto size = static_cast<utf8proc_ssize_t>(character.size());
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()), size, &code_point);
  if (length > 0) return static_cast<char32_t>(code_point);
  return character.empty() ? 0 : static_cast<unsigned char>(character[0]);
}

void append_utf8(std::string& text, char32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

std::string to_upper(std::string_view text) {
  return map_characters(text, append_upper);
}

std::string to_lower(std::string_view text) {
  return map_characters(text, append_lower);
}

std::string to_capitalized(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t first = character_length(text);
  return to_upper(text.substr(0, first)) + to_lower(text.substr(first));
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c != 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_alpha(char32_t c) {
  const utf8proc_category_t found = category(c);
  return found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO;
}

bool is_digit(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}
bool is_upper(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU;
}
bool is_lower(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL;
}

}  // namespace trireme::chat::jinja
