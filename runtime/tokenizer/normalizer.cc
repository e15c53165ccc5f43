#include "runtime/tokenizer/normalizer.h"

#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/character_class.h"
#include "runtime/tokenizer/text_replace.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

base::Result<std::string> apply_step(const UnicodeForm& form, std::string text, std::size_t) {
  return normalize_unicode(text, form);
}

base::Result<std::string> apply_step(const CharacterStep& step, std::string text, std::size_t) {
  return apply_character_step(step, text);
}

base::Result<std::string> apply_step(const PrependText& step, std::string text, std::size_t) {
  return text.empty() ? std::move(text) : step.text + text;
}

base::Result<std::string> apply_step(const ReplaceText& step, std::string text, std::size_t max_bytes) {
  return replace_matches(step.pattern, text, step.replacement, max_bytes);
}

base::Result<std::string> apply_step(const StripWhitespace& step, std::string text, std::size_t) {
  std::string_view rest = text;
  if (step.left) rest.remove_prefix(leading_whitespace(rest));
  if (step.right) rest = rest.substr(0, trailing_whitespace(rest));
  return std::string(rest);
}

base::Result<std::string> apply_step(const WriteByteAlphabet&, std::string text, std::size_t) {
  return to_alphabet(text);
}

base::Result<std::string> apply_step(const PrecompiledCharsmap& charsmap, std::string text, std::size_t) {
  return charsmap.apply(text);
}

}  // namespace

base::Result<std::string> Normalizer::apply(std::string_view text) const {
  const std::size_t max_bytes = max_grown_bytes(text.size());
  std::string result(text);
  for (const NormalizerStep& step : steps_) {
    base::Result<std::string> next =
        std::visit([&](const auto& concrete) { return apply_step(concrete, std::move(result), max_bytes); }, step);
    if (!next) return next;
    result = std::move(*next);
    if (result.size() > max_bytes) return base::invalid_argument("normalisation makes the text too long");
  }
  return result;
}

}  // namespace trireme::tokenizer
