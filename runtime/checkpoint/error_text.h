// Text for one-line error messages out of file contents that nobody has checked.
#pragma once

#include <string>
#include <string_view>

namespace trireme::checkpoint {

// `text` in quotes, cut to 80 bytes, with everything but printable ASCII escaped: always one line.
std::string in_quotes(std::string_view text);

}  // namespace trireme::checkpoint
