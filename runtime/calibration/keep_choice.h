// Which of a model's matrices are worth keeping in a finer format, for at most so many bytes.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "runtime/calibration/sensitivity.h"
#include "runtime/model/weight_plan.h"

namespace trireme::calibration {

struct KeepLimits {
  std::int64_t max_extra_bytes = 0;
  // Enough are kept when those left are estimated to cost no more than this, in nats per token (0.01: about 1 % of
  // perplexity).
  double tolerance = 0.0;
};

struct KeepChoice {
  std::set<std::string> matrices;
  std::int64_t extra_bytes = 0;
  double estimated_divergence = 0.0;  // nats per token of all matrices together, as if their effects added up
};

// Greedy: the largest gain per extra byte first.
KeepChoice choose_kept(std::span<const MatrixSensitivity> sensitivities, const KeepLimits& limits);

// `choose` with the kept matrices in finer_format. `choose` outlives the result.
model::FormatChooser with_kept(const model::FormatChooser& choose, std::set<std::string> kept);

}  // namespace trireme::calibration
