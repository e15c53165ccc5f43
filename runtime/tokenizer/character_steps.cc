#include "runtime/tokenizer/character_steps.h"

#include "runtime/tokenizer/character_class.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

constexpr char32_t kDottedCapitalI = 0x130;  // the one character whose lower case is two: i and a dot above
constexpr std::string_view kDottedSmallI = "i\xCC\x87";
constexpr char32_t kReplacement = 0xFFFD;

void lowercase(char32_t code_point, std::string& output) {
  if (code_point == kDottedCapitalI) {
    output += kDottedSmallI;
  } else {
    append_utf8(to_lower(code_point), output);
  }
}

void clean(char32_t code_point, std::string& output) {
  if (code_point == 0 || code_point == kReplacement || is_control(code_point)) return;
  append_utf8(is_whitespace(code_point) ? U' ' : code_point, output);
}

void space_cjk(char32_t code_point, std::string& output) {
  if (!is_cjk(code_point)) {
    append_utf8(code_point, output);
    return;
  }
  output += ' ';
  append_utf8(code_point, output);
  output += ' ';
}

bool nmt_drops(char32_t c) {
  return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

bool nmt_makes_space(char32_t c) {
  return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
         c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == kReplacement;
}

void apply(CharacterStep step, char32_t code_point, std::string& output) {
  switch (step) {
    case CharacterStep::kLowercase: lowercase(code_point, output); return;
    case CharacterStep::kRemoveMarks:
      if (!is_mark(code_point)) append_utf8(code_point, output);
      return;
    case CharacterStep::kRemoveNonspacingMarks:
      if (!is_nonspacing_mark(code_point)) append_utf8(code_point, output);
      return;
    case CharacterStep::kClean: clean(code_point, output); return;
    case CharacterStep::kSpaceCjk: space_cjk(code_point, output); return;
    case CharacterStep::kNmt:
      if (!nmt_drops(code_point)) append_utf8(nmt_makes_space(code_point) ? U' ' : code_point, output);
      return;
  }
}

}  // namespace

std::string apply_character_step(CharacterStep step, std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    apply(step, character.code_point, result);
    text.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace trireme::tokenizer
