#include "runtime/model/matrix_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

namespace trireme::model {
namespace {

float largest_finite(base::DType type) {
  // Halfway to the next power of two rounds up to infinity.
  return type == base::DType::kF16 ? 65520.0f : std::numeric_limits<float>::infinity();
}

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

struct RowReader {
  const checkpoint::Checkpoint& checkpoint;
  const MatrixSource& source;
  float limit;

  // Reads rows [begin, end) of the whole matrix; returns the tensor that holds an impossible value, or null.
  const checkpoint::TensorInfo* read(std::int64_t begin, std::int64_t end, float* rows) const {
    const checkpoint::TensorInfo* bad = nullptr;
    std::int64_t part_begin = 0;
    for (const MatrixPart& part : source.parts) {
      const checkpoint::TensorInfo* tensor = checkpoint.find(part.tensor);
      const std::int64_t part_end = part_begin + part.num_rows;
      const std::int64_t first = std::max(begin, part_begin), last = std::min(end, part_end);
      if (first < last) {
        float* output = rows + (first - begin) * source.in_features;
        read_part(part, *tensor, first - part_begin, last - part_begin, output);
        for (std::int64_t i = 0; i < last - first; ++i) {
          if (!in_range(output + i * source.in_features)) bad = tensor;
        }
      }
      part_begin = part_end;
    }
    return bad;
  }

  // Reads rows [begin, end) of one part.
  void read_part(const MatrixPart& part, const checkpoint::TensorInfo& tensor, std::int64_t begin, std::int64_t end,
                 float* rows) const {
    if (part.transposed) return read_columns(tensor, begin, end, rows);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t stored = stored_row(part, row);
      checkpoint::Checkpoint::read_rows(tensor, stored, stored + 1, rows + (row - begin) * source.in_features);
    }
  }

  void read_columns(const checkpoint::TensorInfo& tensor, std::int64_t begin, std::int64_t end, float* rows) const {
    std::vector<float> elements(static_cast<std::size_t>(end - begin));
    for (std::int64_t i = 0; i < source.in_features; ++i) {
      const std::int64_t first = i * tensor.row_size();
      checkpoint::Checkpoint::read_elements(tensor, first + begin, first + end, elements.data());
      for (std::int64_t row = 0; row < end - begin; ++row) {
        rows[row * source.in_features + i] = elements[static_cast<std::size_t>(row)];
      }
    }
  }

  bool in_range(const float* row) const {
    bool good = true;
    for (std::int64_t i = 0; i < source.in_features; ++i) good &= std::fabs(row[i]) < limit;
    return good;
  }
};

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
    if (const auto expected = expected_shape(source, part); tensor->shape != expected) {
      return wrong_shape(*tensor, expected);
    }
  }
  return base::ok_status();
}

base::Status pack_source(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source, base::DType type,
                         std::byte* packed, kernels::ThreadPool& pool) {
  const kernels::PackedMatrixShape shape{type, source.out_features(), source.in_features};
  const RowReader reader{checkpoint, source, largest_finite(type)};
  std::mutex mutex;
  const checkpoint::TensorInfo* bad = nullptr;
  pool.parallel_for(shape.num_panels(), [&](std::int64_t panel) {
    const std::int64_t begin = panel * kernels::kPanelWidth;
    const std::int64_t end = std::min(begin + kernels::kPanelWidth, shape.out_features);
    std::vector<float> rows(static_cast<std::size_t>((end - begin) * source.in_features));
    const checkpoint::TensorInfo* found = reader.read(begin, end, rows.data());
    kernels::pack_rows(shape, rows.data(), begin, end - begin, packed);
    if (found == nullptr) return;
    const std::lock_guard lock(mutex);
    if (bad == nullptr || found->name < bad->name) bad = found;
  });
  if (bad == nullptr) return base::ok_status();
  return base::invalid_argument(bad->file + ": tensor " + bad->name + " holds values that are not finite in " +
                                std::string(base::to_string(type)) + " (try --weights bf16 or f32)");
}

base::Result<std::vector<float>> read_vector(const checkpoint::Checkpoint& checkpoint, const std::string& name,
                                             std::int64_t size, float offset) {
  const checkpoint::TensorInfo* tensor = checkpoint.find(name);
  if (tensor == nullptr) return missing(checkpoint, name);
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
