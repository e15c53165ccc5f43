#include "runtime/checkpoint/error_text.h"

#include <cstddef>

namespace trireme::checkpoint {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxBytes = 80;
  constexpr char kHexDigits[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kMaxBytes)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return result += text.size() > kMaxBytes ? "…'" : "'";
}

}  // namespace trireme::checkpoint
