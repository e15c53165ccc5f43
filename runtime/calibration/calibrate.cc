#include "runtime/calibration/calibrate.h"

#include <algorithm>
#include <cmath>

namespace trireme::calibration {
namespace {

std::int64_t bytes_with(const model::FormatChooser& choose, const model::ModelDescription& description) {
  std::int64_t bytes = 0;
  for (const model::PlannedMatrix& matrix :
       model::all_matrices(model::plan_weights(description, choose), description)) {
    bytes += matrix.bytes;
  }
  return bytes;
}

base::Result<TextLoss> evaluate(const CalibrationTask& task, const model::FormatChooser& choose) {
  std::size_t longest = 0;
  for (const Tokens& text : task.texts.evaluation) longest = std::max(longest, text.size());
  const auto model =
      WholeModel::load(task.checkpoint, task.description, choose, task.machine, static_cast<std::int32_t>(longest));
  if (!model) return model.error();
  const TextLoss loss = next_token_loss(**model, task.texts.evaluation);
  if (!std::isfinite(loss.sum)) return base::unsupported("the model's logits are not finite for this text");
  return loss;
}

}  // namespace

base::Result<Calibration> calibrate(const CalibrationTask& task, const CalibrationObserver& observe) {
  Calibration result;
  auto sensitivities =
      measure_sensitivity({task.checkpoint, task.description, task.choose, task.machine, task.texts.samples},
                          [&](double done) { return observe("sensitivity", done); });
  if (!sensitivities) return sensitivities.error();
  if (sensitivities->empty()) return base::invalid_argument("nothing to calibrate: no Linear is quantised");
  result.sensitivities = std::move(*sensitivities);

  result.bytes_before = bytes_with(task.choose, task.description);
  KeepLimits limits;
  limits.max_extra_bytes = static_cast<std::int64_t>(task.keep_share * static_cast<double>(result.bytes_before));
  limits.tolerance = task.tolerance;
  result.kept = choose_kept(result.sensitivities, limits);
  const model::FormatChooser kept = with_kept(task.choose, result.kept.matrices);
  result.bytes_after = bytes_with(kept, task.description);

  const model::FormatChooser exact = [](const model::MatrixSource&) { return kernels::WeightFormat::kF32; };
  constexpr double kNumEvaluations = 3.0;
  double done = 0.0;
  for (auto [choose, loss] :
       {std::pair{&exact, &result.exact}, std::pair{&task.choose, &result.before}, std::pair{&kept, &result.after}}) {
    const auto evaluated = evaluate(task, *choose);
    if (!evaluated) return evaluated.error();
    *loss = *evaluated;
    if (!observe("verification", ++done / kNumEvaluations)) return base::invalid_argument("stopped");
  }
  return result;
}

}  // namespace trireme::calibration
