// The report of a calibration, for programs: one JSON object.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/calibration/calibrate.h"

namespace trireme::launch {

struct ReportFacts {
  std::string text;  // file that was calibrated with
  std::size_t num_samples = 0;
  double keep_sensitive = 0.0, tolerance = 0.0;
  double seconds = 0.0;  // that calibration took
};

// Ends with a line break.
std::string calibration_report(const calibration::Calibration& calibration, const ReportFacts& facts);

}  // namespace trireme::launch
