// UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::tokenizer {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

enum class Utf8Status {
  kValid,       // one whole character
  kInvalid,     // `bytes` bytes that no valid text contains: one U+FFFD stands for them
  kIncomplete,  // the text ends within a character that is right so far
};

struct Utf8Character {
  Utf8Status status = Utf8Status::kValid;
  std::size_t bytes = 0;
  char32_t code_point = 0;  // of a valid character
};

// The first character of `text`, which is not empty. Ill-formed input is cut into maximal subparts (Unicode 15, section
// 3.9, table 3-7 and "U+FFFD substitution of maximal subparts"), so that every decoder replaces it alike.
Utf8Character first_character(std::string_view text);

// Of valid UTF-8; else the bytes that begin a character or stand alone.
std::size_t num_characters(std::string_view text);

// Whether `text` is a single valid character.
bool is_one_character(std::string_view text);

// Offset of the first byte that is not part of a valid character. Surrogates and overlong forms are invalid.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

void append_utf8(char32_t code_point, std::string& output);

// `text` is valid UTF-8 and not empty.
char32_t last_code_point(std::string_view text);

}  // namespace trireme::tokenizer
