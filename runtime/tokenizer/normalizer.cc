#include "runtime/tokenizer/normalizer.h"

#include <utility>

namespace trireme::tokenizer {
namespace {

base::Result<std::string> apply_step(const UnicodeForm& form, std::string text) {
  return normalize_unicode(text, form);
}

base::Result<std::string> apply_step(const PrependText& step, std::string text) {
  return text.empty() ? std::move(text) : step.text + text;
}

base::Result<std::string> apply_step(const ReplaceText& step, std::string text) {
  std::vector<Match> matches;
  const base::Status status = Regex::Matcher(step.pattern).find_all(text, matches);
  if (!status) return status.error();
  if (matches.empty()) return text;
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  for (const Match& match : matches) {
    result.append(text, done, match.begin - done);
    result += step.replacement;
    done = match.end;
  }
  result.append(text, done);
  return result;
}

}  // namespace

base::Result<std::string> Normalizer::apply(std::string_view text) const {
  std::string result(text);
  for (const NormalizerStep& step : steps_) {
    base::Result<std::string> next =
        std::visit([&](const auto& concrete) { return apply_step(concrete, std::move(result)); }, step);
    if (!next) return next;
    result = std::move(*next);
  }
  return result;
}

}  // namespace trireme::tokenizer
