// format: printf into a string, for tables of numbers. Longer results than 512 bytes are cut.
#pragma once

#include <string>

namespace trireme::launch {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace trireme::launch
