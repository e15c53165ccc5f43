// Escapes in string literals of templates, which are Python's.
#pragma once

#include <string>
#include <string_view>

namespace trireme::chat::jinja {

// `body`: what stands between the quotes. An escape that Python does not know stays as it is. Throws TemplateError for
// a broken \x, \u or \U.
std::string resolve_escapes(std::string_view body, int line);

}  // namespace trireme::chat::jinja
