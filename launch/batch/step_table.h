// StepTable: every step of a run in a CSV file: a line per stage of each, with what the step was made of and where
// the stage's time went.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/engine/step_log.h"

namespace trireme::launch {

class StepTable {
 public:
  // Replaces the file; writes the line with the names.
  static base::Result<StepTable> create(const std::string& path);

  // Times are from the first step on.
  void add(const engine::StepRecord& record);
  // Error: the file does not hold all lines.
  base::Status finish();

 private:
  StepTable(std::string path, std::ofstream file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::ofstream file_;
  std::optional<scheduler::TimePoint> start_;
};

}  // namespace trireme::launch
