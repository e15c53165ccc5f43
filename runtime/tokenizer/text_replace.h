// Replacement in texts: of a string, or of what a regular expression matches.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/tokenizer/regex.h"

namespace trireme::tokenizer {

// Every `from`, which may be empty (then nothing is replaced), from left to right.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// Every match; `to` is taken literally. `text` is valid UTF-8. Errors: Regex's, and a result of more than `max_bytes`.
base::Result<std::string> replace_matches(const Regex& pattern, std::string_view text, std::string_view to,
                                          std::size_t max_bytes);

}  // namespace trireme::tokenizer
