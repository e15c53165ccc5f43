#include "launch/convert/calibration_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

using calibration::MatrixSensitivity;
using calibration::ModelPart;
using nlohmann::ordered_json;

ordered_json matrix_json(const MatrixSensitivity& matrix, bool kept) {
  ordered_json object = {{"matrix", matrix.matrix}, {"part", to_string(matrix.part)}};
  if (matrix.layer >= 0) object["layer"] = matrix.layer;
  object["format"] = to_string(matrix.format);
  object["kept_in"] = to_string(kept ? matrix.finer : matrix.format);
  object["bytes"] = matrix.bytes;
  object["extra_bytes_if_kept"] = matrix.finer_bytes - matrix.bytes;
  object["output_error"] = matrix.error;
  object["output_error_if_kept"] = matrix.finer_error;
  object["divergence_nats"] = matrix.divergence;
  object["input_rms"] = matrix.input_rms;
  object["input_peak"] = matrix.input_peak;
  return object;
}

// What attention, the feed-forward halves and the head cost, each for itself.
ordered_json parts_json(const calibration::Calibration& calibration) {
  ordered_json parts = ordered_json::object();
  for (const ModelPart part : {ModelPart::kAttention, ModelPart::kFeedForward, ModelPart::kHead}) {
    int count = 0;
    double error = 0.0, largest_error = 0.0, divergence = 0.0, peak_to_rms = 0.0;
    for (const MatrixSensitivity& matrix : calibration.sensitivities) {
      if (matrix.part != part) continue;
      ++count;
      error += matrix.error;
      largest_error = std::max(largest_error, matrix.error);
      divergence += matrix.divergence;
      if (matrix.input_rms > 0.0) peak_to_rms = std::max(peak_to_rms, matrix.input_peak / matrix.input_rms);
    }
    if (count == 0) continue;
    parts[std::string(to_string(part))] = {{"matrices", count},
                                           {"mean_output_error", error / count},
                                           {"largest_output_error", largest_error},
                                           {"sum_of_divergences_nats", divergence},
                                           {"largest_input_peak_to_rms", peak_to_rms}};
  }
  return parts;
}

ordered_json loss_json(const calibration::TextLoss& loss, const calibration::TextLoss& exact) {
  return {{"perplexity", loss.perplexity()},
          {"change_to_float32", loss.perplexity() / exact.perplexity() - 1.0},
          {"tokens", loss.num_tokens}};
}

}  // namespace

std::string calibration_report(const calibration::Calibration& calibration, const ReportFacts& facts) {
  ordered_json matrices = ordered_json::array();
  for (const MatrixSensitivity& matrix : calibration.sensitivities) {
    matrices.push_back(matrix_json(matrix, calibration.kept.matrices.contains(matrix.matrix)));
  }
  ordered_json before = loss_json(calibration.before, calibration.exact);
  ordered_json after = loss_json(calibration.after, calibration.exact);
  before["bytes"] = calibration.bytes_before;
  after["bytes"] = calibration.bytes_after;
  const ordered_json report = {{"calibration_text", facts.text},
                               {"samples", facts.num_samples},
                               {"keep_sensitive", facts.keep_sensitive},
                               {"tolerance", facts.tolerance},
                               {"seconds", facts.seconds},
                               {"float32", loss_json(calibration.exact, calibration.exact)},
                               {"before", before},
                               {"after", after},
                               {"kept_matrices", calibration.kept.matrices.size()},
                               {"estimated_divergence_nats", calibration.kept.estimated_divergence},
                               {"parts", parts_json(calibration)},
                               {"matrices", matrices}};
  return report.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace trireme::launch
