// Renders a template in one call, for the tests.
#pragma once

#include <string>
#include <string_view>

namespace trireme::chat {

// The text, or "error: " and the message. `context`: a JSON object. It is midnight of the second of January 2026.
std::string render(std::string_view source, std::string_view context = "{}");

// What {{ expression }} prints.
std::string evaluate(std::string_view expression, std::string_view context = "{}");

}  // namespace trireme::chat
