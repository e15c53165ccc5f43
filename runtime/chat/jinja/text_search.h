// Substring search in time linear in the text, whatever the needle (std::string::find is quadratic on hostile input).
#pragma once

#include <string.h>

#include <cstddef>
#include <string_view>

namespace trireme::chat::jinja {

// Byte offset of the first `needle` from `begin` on; npos if there is none.
inline std::size_t find_text(std::string_view text, std::string_view needle, std::size_t begin = 0) {
  if (begin > text.size()) return std::string_view::npos;
  if (needle.empty()) return begin;
  const void* found = memmem(text.data() + begin, text.size() - begin, needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace trireme::chat::jinja
