// What --calibration adds to 'trireme convert': reads the text, calibrates, logs the outcome and writes the report.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/result.h"
#include "launch/command.h"
#include "runtime/calibration/calibrate.h"

namespace trireme::launch {

struct CalibrationOptions {
  std::string file;    // empty: no calibration
  std::string report;  // empty: none
  int num_samples = 64;
  double keep_sensitive = 0.05;
  double tolerance = 0.01;
};

struct CalibrationInput {
  const checkpoint::Checkpoint& checkpoint;
  const model::ModelDescription& description;
  const model::FormatChooser& choose;
  kernels::ThreadPool& pool;
};

// True: a signal asks to stop.
using StopQuestion = std::function<bool()>;

// The matrices to keep in a finer format. Rank 0 alone. Errors: the text cannot be used or is too short, the report
// cannot be written, a signal stopped it.
base::Result<std::set<std::string>> run_calibration(const CalibrationOptions& options, const CalibrationInput& input,
                                                    const CommandContext& context, const StopQuestion& stopped);

}  // namespace trireme::launch
