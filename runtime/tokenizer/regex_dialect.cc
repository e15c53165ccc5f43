#include "runtime/tokenizer/regex_dialect.h"

namespace trireme::tokenizer {
namespace {

// PCRE2's \s has U+180E (a space until Unicode 6.2); Oniguruma's is White_Space.
constexpr std::string_view kSpaceInClass = R"(\t-\r\x{85}\p{Z})";
// Escapes that mean the same in both. Others, like \h (a hexadecimal digit in Oniguruma, a space in PCRE2), do not.
constexpr std::string_view kSameEscapes = "pPdDwWbBAtnrfvaexuzZ0123456789";

bool is_ascii_alphanumeric(char character) {
  return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
         (character >= 'a' && character <= 'z');
}

}  // namespace

base::Result<std::string> from_oniguruma(std::string_view pattern) {
  std::string translated;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char character = pattern[i];
    if (character == '[') {
      if (in_class && pattern.substr(i, 2) != "[:") {
        return base::unsupported("regular expression \"" + std::string(pattern) + "\": a class within a class");
      }
      in_class = true;
    } else if (character == ']') {
      in_class = false;
    }
    if (in_class && pattern.substr(i, 2) == "&&") {
      return base::unsupported("regular expression \"" + std::string(pattern) + "\": an intersection of classes");
    }
    if (character != '\\' || i + 1 == pattern.size()) {
      translated += character;
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 's') {
      translated += in_class ? std::string(kSpaceInClass) : '[' + std::string(kSpaceInClass) + ']';
    } else if (escaped == 'S' && !in_class) {
      translated += "[^" + std::string(kSpaceInClass) + ']';
    } else if (escaped == 'u' && i + 4 < pattern.size()) {
      translated += "\\x{" + std::string(pattern.substr(i + 1, 4)) + '}';
      i += 4;
    } else if (is_ascii_alphanumeric(escaped) && kSameEscapes.find(escaped) == std::string_view::npos) {
      return base::unsupported("regular expression \"" + std::string(pattern) + "\": escape \\" +
                               std::string(1, escaped));
    } else {
      translated += '\\';
      translated += escaped;
    }
  }
  return translated;
}

}  // namespace trireme::tokenizer
