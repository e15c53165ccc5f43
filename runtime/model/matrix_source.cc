#include "runtime/model/matrix_source.h"

#include <algorithm>
#include <cmath>

namespace trireme::model {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

base::Error wrong_shape(const checkpoint::TensorInfo& tensor, const std::vector<std::int64_t>& expected) {
  return base::invalid_argument(tensor.file + ": tensor " + tensor.name + " has shape " + shape_text(tensor.shape) +
                                ", expected " + shape_text(expected));
}

std::vector<std::int64_t> expected_shape(const MatrixSource& source, const MatrixPart& part) {
  if (!part.tensor_shape.empty()) return part.tensor_shape;
  if (part.transposed) return {source.in_features, part.num_rows};
  return {part.num_rows, source.in_features};
}

// Rows of the tensor that holds the part.
std::int64_t tensor_rows(const MatrixPart& part) {
  if (part.tensor_shape.empty()) return part.num_rows;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < part.tensor_shape.size(); ++i) rows *= part.tensor_shape[i];
  return rows;
}

base::Error missing(const checkpoint::Checkpoint& checkpoint, const std::string& name) {
  return base::invalid_argument(checkpoint.path().string() + ": tensor " + name + " is missing");
}

}  // namespace

std::int64_t MatrixSource::out_features() const {
  std::int64_t rows = 0;
  for (const MatrixPart& part : parts) rows += part.num_rows;
  return rows;
}

std::int64_t stored_row(const MatrixPart& part, std::int64_t row) {
  if (part.interleaved_head_dim > 0) {
    const std::int64_t half = part.interleaved_head_dim / 2;
    const std::int64_t in_head = row % part.interleaved_head_dim;
    row += 2 * (in_head % half) + in_head / half - in_head;
  }
  if (part.head_rows > 0) row = row / part.head_rows * part.head_stride + row % part.head_rows;
  return part.first_row + row;
}

base::Status check_source(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source) {
  for (const MatrixPart& part : source.parts) {
    const checkpoint::TensorInfo* tensor = checkpoint.find(part.tensor);
    if (tensor == nullptr) return missing(checkpoint, part.tensor);
    if (auto status = checkpoint::Checkpoint::check_readable(*tensor); !status) return status;
    if (const auto expected = expected_shape(source, part); tensor->shape != expected) {
      return wrong_shape(*tensor, expected);
    }
  }
  return base::ok_status();
}

base::Result<std::vector<float>> read_vector(const checkpoint::Checkpoint& checkpoint, const std::string& name,
                                             std::int64_t size, float offset) {
  const checkpoint::TensorInfo* tensor = checkpoint.find(name);
  if (tensor == nullptr) return missing(checkpoint, name);
  if (auto status = checkpoint::Checkpoint::check_readable(*tensor); !status) return status.error();
  if (tensor->shape != std::vector<std::int64_t>{size}) return wrong_shape(*tensor, {size});
  std::vector<float> values(static_cast<std::size_t>(size));
  checkpoint::Checkpoint::read_rows(*tensor, 0, 1, values.data());
  for (float& value : values) value += offset;
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    return base::invalid_argument(tensor->file + ": tensor " + name + " holds values that are not finite");
  }
  return values;
}

std::string bias_name(const std::string& weight) {
  constexpr std::string_view kSuffix = ".weight";
  return weight.ends_with(kSuffix) ? weight.substr(0, weight.size() - kSuffix.size()) + ".bias" : "";
}

base::Result<std::vector<float>> read_bias(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source) {
  std::vector<float> bias;
  bool any = false;
  for (const MatrixPart& part : source.parts) {
    const std::size_t begin = bias.size();
    bias.resize(begin + static_cast<std::size_t>(part.num_rows));
    const std::string name = bias_name(part.tensor);
    if (name.empty() || checkpoint.find(name) == nullptr) continue;
    auto values = read_vector(checkpoint, name, tensor_rows(part), 0.0f);
    if (!values) return values.error();
    for (std::int64_t row = 0; row < part.num_rows; ++row) {
      bias[begin + static_cast<std::size_t>(row)] = (*values)[static_cast<std::size_t>(stored_row(part, row))];
    }
    any = true;
  }
  if (!any) bias.clear();
  return bias;
}

}  // namespace trireme::model
