#include "launch/format.h"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace trireme::launch {

std::string format(const char* pattern, ...) {
  std::array<char, 512> text{};
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text.data(), text.size(), pattern, arguments);
  va_end(arguments);
  return text.data();
}

}  // namespace trireme::launch
