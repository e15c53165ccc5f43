// PreTokenizer: splits ordinary text into the words within which the model works, step by step.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/regex.h"

namespace trireme::tokenizer {

// What becomes of a match and of the text between matches, with the names of tokenizer.json.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

struct SplitStep {
  Regex pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;  // the text between matches counts as matched, and the matches as between
};

// Writes spaces as "▁" (U+2581), and, if told, begins a word at each of them.
struct MetaspaceStep {
  enum class Prepend { kNever, kFirst, kAlways };
  Prepend prepend = Prepend::kAlways;  // of a "▁", to the text's first word or to each one, where it has none
  bool split = true;
  std::string replacement = std::string(kMetaspace);  // one character, for a space
};

// Puts a space before each word that does not begin with one.
struct PrefixSpaceStep {};

// Writes each byte as a character of GPT-2's alphabet.
struct ByteAlphabetStep {};

using PreTokenizerStep = std::variant<SplitStep, MetaspaceStep, PrefixSpaceStep, ByteAlphabetStep>;

struct Words {
  std::vector<std::string_view> words;  // none is empty; they point into the text or into `rewritten`
  std::deque<std::string> rewritten;
};

class PreTokenizer {
 public:
  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<PreTokenizerStep> steps) : steps_(std::move(steps)) {}

  // `text`: valid UTF-8, which outlives the words. `at_text_start`: no text or token comes before. Errors: Regex's.
  base::Result<Words> apply(std::string_view text, bool at_text_start) const;

 private:
  std::vector<PreTokenizerStep> steps_;
};

}  // namespace trireme::tokenizer
