// Text that a user names: a file, or standard input.
#pragma once

#include <string>

#include "base/result.h"

namespace trireme::launch {

// The whole of a file; of standard input if the path is empty or "-".
base::Result<std::string> read_text(const std::string& path);

}  // namespace trireme::launch
