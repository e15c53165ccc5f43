// Text as sequences of code points, the unit in which templates count, index and slice. Bytes that are not UTF-8 count
// as one character each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::chat::jinja {

std::size_t count_characters(std::string_view text);
std::vector<std::string_view> characters(std::string_view text);  // views into `text`

char32_t first_code_point(std::string_view character);
void append_utf8(std::string& text, char32_t code_point);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_capitalized(std::string_view text);  // first character upper, the rest lower

// As Python's str methods of these names see one code point.
bool is_space(char32_t code_point);
bool is_printable(char32_t code_point);
bool is_alpha(char32_t code_point);
bool is_digit(char32_t code_point);
bool is_upper(char32_t code_point);
bool is_lower(char32_t code_point);

}  // namespace trireme::chat::jinja
