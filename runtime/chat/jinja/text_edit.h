// Edits of text that both filters and methods offer.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

enum class Side { kLeft, kRight, kBoth };

// Without the characters of `set` (whitespace, if it is null) at the ends.
std::string_view strip(std::string_view text, const std::string* set, Side side);
// At most `max_count` replacements; negative: all.
Value replace_text(RenderContext& context, std::string_view text, std::string_view old, std::string_view replacement,
                   std::int64_t max_count);
// Every word's first letter upper case, as str.title.
std::string title_case(std::string_view text);

}  // namespace trireme::chat::jinja
