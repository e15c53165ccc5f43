// Normalizer: what a tokenizer does to ordinary text before splitting it into words, step by step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/character_steps.h"
#include "runtime/tokenizer/precompiled_charsmap.h"
#include "runtime/tokenizer/regex.h"

namespace trireme::tokenizer {

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct PrependText {
  std::string text;
};

struct ReplaceText {
  Regex pattern;
  std::string replacement;  // taken literally
};

// Takes the whitespace from the text's ends.
struct StripWhitespace {
  bool left = true;
  bool right = true;
};

// Writes each byte as a character of GPT-2's alphabet.
struct WriteByteAlphabet {};

using NormalizerStep = std::variant<UnicodeForm, CharacterStep, PrependText, ReplaceText, StripWhitespace,
                                    WriteByteAlphabet, PrecompiledCharsmap>;

class Normalizer {
 public:
  Normalizer() = default;
  explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}

  bool empty() const { return steps_.empty(); }
  // All steps in their order. `text` is valid UTF-8; nothing is prepended to empty text. Errors: Regex's, and a text
  // that grows beyond all measure.
  base::Result<std::string> apply(std::string_view text) const;

 private:
  std::vector<NormalizerStep> steps_;
};

// Unicode normalisation (UAX #15) in linear time up to a logarithm, also for long runs of combining marks.
std::string normalize_unicode(std::string_view text, UnicodeForm form);

}  // namespace trireme::tokenizer
