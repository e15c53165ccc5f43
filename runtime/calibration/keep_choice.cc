#include "runtime/calibration/keep_choice.h"

#include <algorithm>
#include <vector>

namespace trireme::calibration {
namespace {

std::int64_t extra_bytes(const MatrixSensitivity& matrix) {
  return std::max<std::int64_t>(matrix.finer_bytes - matrix.bytes, 1);
}

}  // namespace

KeepChoice choose_kept(std::span<const MatrixSensitivity> sensitivities, const KeepLimits& limits) {
  std::vector<const MatrixSensitivity*> order;
  KeepChoice choice;
  for (const MatrixSensitivity& each : sensitivities) {
    choice.estimated_divergence += each.divergence;
    if (each.gain() > 0.0) order.push_back(&each);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const MatrixSensitivity* each) {
    return each->gain() / static_cast<double>(extra_bytes(*each));
  });
  for (const MatrixSensitivity* each : order) {
    if (choice.estimated_divergence <= limits.tolerance) break;
    if (choice.extra_bytes + extra_bytes(*each) > limits.max_extra_bytes) continue;
    choice.extra_bytes += extra_bytes(*each);
    choice.estimated_divergence -= each->gain();
    choice.matrices.insert(each->matrix);
  }
  return choice;
}

model::FormatChooser with_kept(const model::FormatChooser& choose, std::set<std::string> kept) {
  return [&choose, kept = std::move(kept)](const model::MatrixSource& source) {
    const kernels::WeightFormat format = choose(source);
    return kept.contains(source.name) ? finer_format(format) : format;
  };
}

}  // namespace trireme::calibration
