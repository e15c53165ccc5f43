// Sets of characters by which pre-tokenizers cut and normalizers filter: as the body of a bracket expression of PCRE2
// ([…]), and as predicates.
#pragma once

#include <cstddef>
#include <string_view>

namespace trireme::tokenizer {

// Unicode's White_Space. PCRE2's own \s has U+180E too, a space until Unicode 6.2.
inline constexpr std::string_view kSpaceClass = R"(\t-\r\x{85}\p{Z})";
// \w of UTS #18: letters, marks, decimal digits, letter numbers, connectors, joiners, circled letters.
inline constexpr std::string_view kWordClass =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
// Unicode's punctuation, and ASCII's, which counts some symbols too.
inline constexpr std::string_view kPunctuationClass = R"(\p{P}$+<=>^`|~)";

bool is_whitespace(char32_t code_point);       // kSpaceClass
bool is_word_character(char32_t code_point);   // kWordClass
bool is_mark(char32_t code_point);             // general category M
bool is_nonspacing_mark(char32_t code_point);  // general category Mn
// What BERT's clean_text drops: general category C except tab, line feed and carriage return. Unassigned characters
// are not dropped.
bool is_control(char32_t code_point);
bool is_cjk(char32_t code_point);  // ideographs, each of which BERT reads as a word
char32_t to_lower(char32_t code_point);

// Of valid UTF-8: length of the whitespace that it begins with, and where the whitespace that ends it begins.
std::size_t leading_whitespace(std::string_view text);
std::size_t trailing_whitespace(std::string_view text);

}  // namespace trireme::tokenizer
