#include "runtime/model/weight_plan.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "runtime/checkpoint/conversion.h"

namespace trireme::model {
namespace {

using checkpoint::TensorType;
using kernels::WeightFormat;

bool all_of_type(const std::vector<TensorType>& stored, TensorType type) {
  return std::all_of(stored.begin(), stored.end(), [type](TensorType each) { return each == type; });
}

std::vector<TensorType> stored_types(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source) {
  std::vector<TensorType> types;
  for (const MatrixPart& part : source.parts) {
    const checkpoint::TensorInfo* tensor = checkpoint.find(part.tensor);
    types.push_back(tensor == nullptr || part.transposed ? TensorType::kF32 : tensor->type);
  }
  return types;
}

WeightFormat choose_groups(config::Weights weights, const std::vector<TensorType>& stored, bool is_vocabulary) {
  if (weights == config::Weights::kQ8) return WeightFormat::kQ8_0;
  if (all_of_type(stored, TensorType::kQ4_0)) return WeightFormat::kQ4_0;
  if (all_of_type(stored, TensorType::kQ4_1)) return WeightFormat::kQ4_1;
  return weights == config::Weights::kQ4 && !is_vocabulary ? WeightFormat::kQ4_1 : WeightFormat::kQ8_0;
}

// Whether `tensor` is `pattern` with some layer in place of "{}".
bool is_of_pattern(const std::string& tensor, const std::string& pattern) {
  const std::size_t place = pattern.find("{}");
  return place != std::string::npos && tensor.starts_with(pattern.substr(0, place)) &&
         tensor.ends_with(pattern.substr(place + 2));
}

std::vector<PlannedMatrix> plan_sources(const std::vector<MatrixSource>& sources, const FormatChooser& choose) {
  std::vector<PlannedMatrix> planned;
  for (const MatrixSource& source : sources) {
    const kernels::PackedMatrixShape shape = packed_shape(source, choose(source));
    planned.push_back({source.parts.front().tensor, shape.format, static_cast<std::int64_t>(shape.aligned_bytes()),
                       shape.out_features});
  }
  return planned;
}

// The sum of one figure over the matrices that a stage holds.
std::int64_t sum_over(const WeightPlan& plan, const ModelDescription& model, const StageSpec& stage,
                      std::int64_t PlannedMatrix::*figure) {
  std::int64_t sum = 0;
  const auto add = [&](const std::vector<PlannedMatrix>& matrices) {
    for (const PlannedMatrix& matrix : matrices) sum += matrix.*figure;
  };
  if (stage.first) add(plan.first);
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer; ++layer) {
    add(plan.layers[static_cast<std::size_t>(layer)]);
  }
  if (stage.last && !shares_embedding(model, stage)) add(plan.last);
  return sum;
}

}  // namespace

FormatChooser make_format_chooser(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model,
                                  config::Weights weights) {
  if (const checkpoint::Conversion* conversion = checkpoint.conversion()) {
    return [conversion](const MatrixSource& source) {
      const checkpoint::PackedMatrix* matrix = conversion->find(source.name);
      return matrix == nullptr ? WeightFormat::kF16 : matrix->shape.format;
    };
  }
  return [&checkpoint, names = model.names, weights](const MatrixSource& source) {
    const std::string& tensor = source.parts.front().tensor;
    const bool is_vocabulary = tensor == names.embedding || tensor == names.head;
    switch (weights) {
      case config::Weights::kF32: return WeightFormat::kF32;
      case config::Weights::kF16: return WeightFormat::kF16;
      case config::Weights::kBF16: return WeightFormat::kBF16;
      default: break;
    }
    if (tensor == names.positions || is_of_pattern(tensor, names.router)) return WeightFormat::kF16;
    if (weights == config::Weights::kInt8) return is_vocabulary ? WeightFormat::kQ8_0 : WeightFormat::kInt8;
    return choose_groups(weights, stored_types(checkpoint, source), is_vocabulary);
  };
}

kernels::PackedMatrixShape packed_shape(const MatrixSource& source, kernels::WeightFormat format) {
  return {format, source.out_features(), source.in_features};
}

WeightPlan plan_weights(const ModelDescription& model, const FormatChooser& choose) {
  WeightPlan plan;
  plan.first = plan_sources(stage_sources(model, {0, 0, true, false}), choose);
  for (std::int32_t layer = 0; layer < model.num_layers(); ++layer) {
    plan.layers.push_back(plan_sources(stage_sources(model, {layer, layer + 1, false, false}), choose));
  }
  plan.last = plan_sources(stage_sources(model, {0, 0, false, true}), choose);
  return plan;
}

std::int64_t matrix_bytes(const WeightPlan& plan, const ModelDescription& model, const StageSpec& stage) {
  return sum_over(plan, model, stage, &PlannedMatrix::bytes);
}

std::int64_t stage_weight_bytes(const WeightPlan& plan, const ModelDescription& model, const StageSpec& stage) {
  constexpr std::int64_t kNormsPerLayer = 4;
  std::int64_t floats = kNormsPerLayer * (stage.end_layer - stage.begin_layer) * model.hidden_size;
  if (stage.last) floats += model.hidden_size;
  floats += sum_over(plan, model, stage, &PlannedMatrix::num_outputs);
  return matrix_bytes(plan, model, stage) + floats * static_cast<std::int64_t>(sizeof(float));
}

std::vector<PlannedMatrix> all_matrices(const WeightPlan& plan, const ModelDescription& model) {
  std::vector<PlannedMatrix> matrices = plan.first;
  for (const auto& layer : plan.layers) matrices.insert(matrices.end(), layer.begin(), layer.end());
  if (!model.tied_head) matrices.insert(matrices.end(), plan.last.begin(), plan.last.end());
  return matrices;
}

std::string describe_formats(const std::vector<PlannedMatrix>& matrices) {
  std::map<WeightFormat, std::int64_t> sums;
  for (const PlannedMatrix& matrix : matrices) sums[matrix.format] += matrix.bytes;
  std::vector<std::pair<std::int64_t, WeightFormat>> by_size;
  for (const auto& [format, bytes] : sums) by_size.emplace_back(bytes, format);
  std::sort(by_size.rbegin(), by_size.rend());
  std::string text;
  for (const auto& [bytes, format] : by_size) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(format));
    if (by_size.size() == 1) return text;
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), " %.1f MiB", static_cast<double>(bytes) / (1 << 20));
    text += size.data();
  }
  return text;
}

}  // namespace trireme::model
