// Steps of normalisation that look at one character at a time.
#pragma once

#include <string>
#include <string_view>

namespace trireme::tokenizer {

enum class CharacterStep {
  kLowercase,              // each character by itself, as Unicode's full mapping without context
  kRemoveMarks,            // of general category M
  kRemoveNonspacingMarks,  // Mn
  kClean,                  // BERT's clean_text: without control characters and U+FFFD, whitespace as spaces
  kSpaceCjk,               // a space on both sides of each ideograph
  kNmt,                    // SentencePiece's rule "nmt": without control characters, some blanks as spaces
};

// `text` is valid UTF-8.
std::string apply_character_step(CharacterStep step, std::string_view text);

}  // namespace trireme::tokenizer
