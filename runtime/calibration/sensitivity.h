// Sensitivity: what it costs to keep a matrix in few bits, measured on sample texts against the float32 model. Each
// matrix is tried on its own, all others in float32:
//     error       how far the matrix's output is from the exact one, for the inputs that it meets
//     divergence  how far the distribution of the next token moves, through all layers that follow
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/calibration/whole_model.h"

namespace trireme::calibration {

enum class ModelPart { kAttention, kFeedForward, kHead };
std::string_view to_string(ModelPart part);  // "attention", "feed_forward", "head"

struct MatrixSensitivity {
  std::string matrix;  // model::MatrixSource's name
  ModelPart part = ModelPart::kAttention;
  std::int32_t layer = -1;  // -1: the head
  kernels::WeightFormat format = kernels::WeightFormat::kInt8;
  kernels::WeightFormat finer = kernels::WeightFormat::kQ8_0;  // what it is kept in if it is sensitive
  std::int64_t bytes = 0, finer_bytes = 0;
  double input_rms = 0.0, input_peak = 0.0;  // root mean square and largest absolute value of its inputs
  double error = 0.0, finer_error = 0.0;     // |output - exact| / |exact| over all outputs, Euclidean
  double divergence = 0.0;                   // nats per token, in `format`
  double finer_divergence() const;           // estimated: it grows with the square of the error
  double gain() const { return divergence - finer_divergence(); }
};

// The next finer format: groups of 32 in 8 bits for int8 and 4 bits, float16 for those; `format` itself for floats.
kernels::WeightFormat finer_format(kernels::WeightFormat format);

struct SensitivityTask {
  const checkpoint::Checkpoint& checkpoint;
  const model::ModelDescription& description;
  const model::FormatChooser& choose;  // the formats to judge
  Machine machine;
  std::span<const Tokens> samples;  // for errors all of them; for divergences a few
};

// Share of the work that is done, in [0, 1]. False: the user wants to stop.
using SensitivityObserver = std::function<bool(double done)>;

// Of every Linear that is quantised, in the order of the model. The float32 model is held in memory. Errors: the model
// cannot be loaded; the observer stopped it.
base::Result<std::vector<MatrixSensitivity>> measure_sensitivity(const SensitivityTask& task,
                                                                 const SensitivityObserver& observe);

}  // namespace trireme::calibration
