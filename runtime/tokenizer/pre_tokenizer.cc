#include "runtime/tokenizer/pre_tokenizer.h"

#include <numeric>
#include <utility>

#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/text_replace.h"

namespace trireme::tokenizer {
namespace {

struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool matched = false;
};

// `word` cut at the matches: all of it, in order, without empty parts.
void cut(std::string_view word, const std::vector<Match>& matches, bool invert, std::vector<Part>& parts) {
  std::size_t done = 0;
  for (const Match& match : matches) {
    if (match.begin > done) parts.push_back({done, match.begin, invert});
    parts.push_back({match.begin, match.end, !invert});
    done = match.end;
  }
  if (done < word.size()) parts.push_back({done, word.size(), invert});
}

// Whether `part` goes into one word with the part before it.
bool joins_previous(SplitBehavior behavior, const Part& before, const Part& part) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
    case SplitBehavior::kIsolated: return false;
    case SplitBehavior::kMergedWithPrevious: return part.matched && !before.matched;
    case SplitBehavior::kMergedWithNext: return before.matched && !part.matched;
    case SplitBehavior::kContiguous: return before.matched == part.matched;
  }
  return false;
}

base::Status apply_step(const SplitStep& step, bool, Words& words) {
  Regex::Matcher matcher(step.pattern);
  std::vector<std::string_view> result;
  std::vector<Match> matches;
  std::vector<Part> parts;
  for (const std::string_view word : words.words) {
    matches.clear();
    parts.clear();
    const base::Status status = matcher.find_all(word, matches);
    if (!status) return status;
    cut(word, matches, step.invert, parts);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i + 1 < parts.size() && joins_previous(step.behavior, parts[i], parts[i + 1])) continue;
      const bool removed = step.behavior == SplitBehavior::kRemoved && parts[i].matched;
      if (!removed) result.push_back(word.substr(begin, parts[i].end - begin));
      begin = parts[i].end;
    }
  }
  words.words = std::move(result);
  return base::ok_status();
}

// Begins a new word at each `mark`.
void split_before(std::string_view mark, std::string_view text, std::vector<std::string_view>& words) {
  std::size_t begin = 0;
  for (std::size_t at = text.find(mark, 1); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    words.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  words.push_back(text.substr(begin));
}

base::Status apply_step(const MetaspaceStep& step, bool at_text_start, Words& words) {
  std::vector<std::string_view> result;
  bool first = at_text_start;
  for (const std::string_view word : words.words) {
    std::string text = replace_all(word, " ", step.replacement);
    const bool prepend =
        step.prepend == MetaspaceStep::Prepend::kAlways || (step.prepend == MetaspaceStep::Prepend::kFirst && first);
    if (prepend && !text.starts_with(step.replacement)) text.insert(0, step.replacement);
    first = false;
    words.rewritten.push_back(std::move(text));
    if (step.split) {
      split_before(step.replacement, words.rewritten.back(), result);
    } else {
      result.push_back(words.rewritten.back());
    }
  }
  words.words = std::move(result);
  return base::ok_status();
}

base::Status apply_step(const PrefixSpaceStep&, bool, Words& words) {
  for (std::string_view& word : words.words) {
    if (word.starts_with(' ')) continue;
    words.rewritten.push_back(' ' + std::string(word));
    word = words.rewritten.back();
  }
  return base::ok_status();
}

base::Status apply_step(const ByteAlphabetStep&, bool, Words& words) {
  for (std::string_view& word : words.words) {
    words.rewritten.push_back(to_alphabet(word));
    word = words.rewritten.back();
  }
  return base::ok_status();
}

}  // namespace

base::Result<Words> PreTokenizer::apply(std::string_view text, bool at_text_start) const {
  const std::size_t max_bytes = max_grown_bytes(text.size());
  Words words;
  if (!text.empty()) words.words.push_back(text);
  for (const PreTokenizerStep& step : steps_) {
    const base::Status status =
        std::visit([&](const auto& concrete) { return apply_step(concrete, at_text_start, words); }, step);
    if (!status) return status.error();
    const std::size_t bytes = std::accumulate(words.words.begin(), words.words.end(), std::size_t{0},
                                              [](std::size_t sum, std::string_view word) { return sum + word.size(); });
    if (bytes > max_bytes) return base::invalid_argument("the pre-tokenizer makes the text too long");
  }
  return words;
}

}  // namespace trireme::tokenizer
