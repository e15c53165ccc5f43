#include "runtime/tokenizer/character_class.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

using Range = std::pair<char32_t, char32_t>;  // both ends belong to it

utf8proc_category_t category(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

template <std::size_t kCount>
bool is_in(const std::array<Range, kCount>& ranges, char32_t code_point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code_point >= range.first && code_point <= range.second; });
}

constexpr std::array<Range, 4> kCircledLetters = {
    {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}}};

// The ranges of the original implementation of BERT.
constexpr std::array<Range, 8> kCjk = {{{0x4E00, 0x9FFF},
                                        {0x3400, 0x4DBF},
                                        {0x20000, 0x2A6DF},
                                        {0x2A700, 0x2B73F},
                                        {0x2B740, 0x2B81F},
                                        {0x2B920, 0x2CEAF},
                                        {0xF900, 0xFAFF},
                                        {0x2F800, 0x2FA1F}}};

}  // namespace

bool is_whitespace(char32_t code_point) {
  if (code_point < 0x80) return code_point == ' ' || (code_point >= '\t' && code_point <= '\r');
  if (code_point == 0x85) return true;
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return false;
  }
}

bool is_word_character(char32_t code_point) {
  if (code_point == 0x200C || code_point == 0x200D) return true;  // joiners
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return is_in(kCircledLetters, code_point);
  }
}

bool is_mark(char32_t code_point) {
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return true;
    default: return false;
  }
}

bool is_nonspacing_mark(char32_t code_point) {
  return category(code_point) == UTF8PROC_CATEGORY_MN;
}

bool is_control(char32_t code_point) {
  if (code_point == '\t' || code_point == '\n' || code_point == '\r') return false;
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO: return true;
    default: return false;
  }
}

bool is_cjk(char32_t code_point) {
  return is_in(kCjk, code_point);
}

char32_t to_lower(char32_t code_point) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point)));
}

std::size_t trailing_whitespace(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_whitespace(last_code_point(text.substr(0, end)))) {
    do {
      --end;
    } while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  }
  return end;
}

std::size_t leading_whitespace(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Utf8Character character = first_character(text.substr(bytes));
    if (!is_whitespace(character.code_point)) break;
    bytes += character.bytes;
  }
  return bytes;
}

}  // namespace trireme::tokenizer
