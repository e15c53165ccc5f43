// Calibration of a model's formats: measure what each matrix costs, keep those that matter in a finer format, and
// verify the outcome on texts that took no part in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/calibration/keep_choice.h"
#include "runtime/calibration/next_token_loss.h"
#include "runtime/calibration/sensitivity.h"

namespace trireme::calibration {

struct CalibrationTexts {
  std::vector<Tokens> samples;     // measured
  std::vector<Tokens> evaluation;  // scored before and after; none of the samples' tokens
};

struct CalibrationTask {
  const checkpoint::Checkpoint& checkpoint;
  const model::ModelDescription& description;
  const model::FormatChooser& choose;
  Machine machine;
  const CalibrationTexts& texts;
  double keep_share = 0.05;  // extra bytes at most, of those of all matrices
  double tolerance = 0.01;   // see KeepLimits
};

struct Calibration {
  std::vector<MatrixSensitivity> sensitivities;
  KeepChoice kept;
  std::int64_t bytes_before = 0, bytes_after = 0;  // of all matrices
  TextLoss exact, before, after;                   // float32, as `choose` has it, and with the kept matrices
};

// Share done of the step that is named. False: the user wants to stop.
using CalibrationObserver = std::function<bool(const std::string& step, double done)>;

// Errors: no matrix is quantised, the model cannot be loaded, its logits are not finite, the observer stopped it.
base::Result<Calibration> calibrate(const CalibrationTask& task, const CalibrationObserver& observe);

}  // namespace trireme::calibration
