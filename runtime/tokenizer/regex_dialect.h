// Differences between Oniguruma's regular expressions, which tokenizer.json files use, and those of PCRE2.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace trireme::tokenizer {

// `pattern` as PCRE2 has to read it. Error: an escape that the two read differently and that is not translated.
base::Result<std::string> from_oniguruma(std::string_view pattern);

}  // namespace trireme::tokenizer
