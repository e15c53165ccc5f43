// Replacement in texts: of a string, or of what a regular expression matches.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/tokenizer/regex.h"

namespace trireme::tokenizer {

// How long `bytes` of text may become on the way to its tokens: no tokenizer of use needs more, a hostile one would
// take all memory, and positions within a word are 32-bit numbers.
constexpr std::size_t max_grown_bytes(std::size_t bytes) {
  constexpr std::size_t kMaxGrowth = 64, kAlwaysAllowed = 1 << 20, kLimit = (std::size_t{1} << 31) - 1;
  return bytes > kLimit / (2 * kMaxGrowth) ? kLimit : kMaxGrowth * bytes + kAlwaysAllowed;
}

// Every `from`, which may be empty (then nothing is replaced), from left to right.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Every match; `to` is taken literally. `text` is valid UTF-8. Errors: Regex's, and a result of more than `max_bytes`.
base::Result<std::string> replace_matches(const Regex& pattern, std::string_view text, std::string_view to,
                                          std::size_t max_bytes);

}  // namespace trireme::tokenizer
