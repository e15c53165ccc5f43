// The text to calibrate with: a plain text, or JSON lines; cut into samples and into windows for verification.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/calibration/calibrate.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::launch {

struct CalibrationCut {
  std::int32_t num_samples = 64;     // at most; spread evenly over what is not for verification
  std::int32_t sample_tokens = 128;  // without the BOS that goes before each
  std::int32_t window_tokens = 512;  // likewise of a window for verification; halved until two fit into the text
};

// `text` is that of the file `name`: JSON lines where that ends with .jsonl or .json, each an object with a string
// "text" or "prompt". Verified with: the last fifth, at most eight windows. Errors name file, line and reason.
base::Result<calibration::CalibrationTexts> cut_calibration_text(const std::string& text, const std::string& name,
                                                                 const tokenizer::Tokenizer& tokenizer,
                                                                 CalibrationCut cut);

}  // namespace trireme::launch
