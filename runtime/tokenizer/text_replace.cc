#include "runtime/tokenizer/text_replace.h"

#include <vector>

namespace trireme::tokenizer {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  for (std::size_t at; (at = text.find(from, done)) != std::string_view::npos; done = at + from.size()) {
    result += text.substr(done, at - done);
    result += to;
  }
  return result.append(text.substr(done));
}

base::Result<std::string> replace_matches(const Regex& pattern, std::string_view text, std::string_view to,
                                          std::size_t max_bytes) {
  std::vector<Match> matches;
  const base::Status status = Regex::Matcher(pattern).find_all(text, matches);
  if (!status) return status.error();
  if (text.size() + matches.size() * to.size() > max_bytes) {
    return base::invalid_argument("a replacement makes the text longer than " + std::to_string(max_bytes) + " bytes");
  }
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  for (const Match& match : matches) {
    result += text.substr(done, match.begin - done);
    result += to;
    done = match.end;
  }
  return result.append(text.substr(done));
}

}  // namespace trireme::tokenizer
