// What there is to know of a batch job's input before its first line is worked on: one pass over the file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace trireme::launch {

enum class BatchForm {
  kPlain,   // {"prompt": …}
  kOpenAi,  // {"custom_id": …, "method": …, "url": …, "body": …}
};

struct InputScan {
  std::uint64_t num_bytes = 0;
  std::uint64_t fingerprint = 0;       // XXH3 (64 bits) of all bytes
  std::uint64_t num_lines = 0;         // up to the last that is not blank
  BatchForm form = BatchForm::kPlain;  // of the first line that is a JSON object
};

base::Result<InputScan> scan_input(const std::string& path);

}  // namespace trireme::launch
