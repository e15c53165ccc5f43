// JSON files of a model, parsed with limits: nesting at most 64 deep, no duplicate keys, no NUL bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trireme::checkpoint {

inline constexpr int kMaxJsonDepth = 64;

// Errors begin with `file` and never quote more of the text than a key.
base::Result<nlohmann::json> parse_bounded_json(std::string_view text, const std::string& file);

}  // namespace trireme::checkpoint
