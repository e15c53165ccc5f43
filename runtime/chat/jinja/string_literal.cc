#include "runtime/chat/jinja/string_literal.h"

#include <charconv>
#include <cstddef>
#include <cstdint>

#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"

namespace trireme::chat::jinja {
namespace {

// A code point of `digits` hexadecimal digits at `position`.
char32_t hexadecimal(std::string_view body, std::size_t position, std::size_t digits, int line) {
  const std::string_view text = body.substr(position, digits);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool complete = text.size() == digits && error == std::errc() && end == text.data() + text.size();
  if (!complete || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    fail_syntax("invalid escape in a string", line);
  }
  return value;
}

char simple_escape(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    case '\\':
    case '\'':
    case '"': return letter;
    default: return '\0';
  }
}

bool is_octal(char letter) {
  return letter >= '0' && letter <= '7';
}

}  // namespace

std::string resolve_escapes(std::string_view body, int line) {
  std::string text;
  text.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      text += body[i];
      continue;
    }
    const char letter = body[++i];
    const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (digits > 0) {
      append_utf8(text, hexadecimal(body, i + 1, digits, line));
      i += digits;
    } else if (is_octal(letter)) {
      char32_t value = 0;
      const std::size_t end = i + 3;
      for (; i < end && i < body.size() && is_octal(body[i]); ++i)
        value = value * 8 + static_cast<char32_t>(body[i] - '0');
      --i;
      append_utf8(text, value);
    } else if (const char escaped = simple_escape(letter); escaped != '\0') {
      text += escaped;
    } else if (letter != '\n') {  // an escaped line end joins the lines
      text += '\\';
      text += letter;
    }
  }
  return text;
}

}  // namespace trireme::chat::jinja
