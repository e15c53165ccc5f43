// Packing of one matrix: each panel's rows are read, checked and packed by one task. Rows that the checkpoint stores in
// groups keep their whole numbers and scales where the format can hold them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "kernels/quantise_weights.h"
#include "runtime/checkpoint/split_row.h"
#include "runtime/model/matrix_source.h"

namespace trireme::model {
namespace {

using checkpoint::TensorInfo;
using checkpoint::TensorType;
using kernels::WeightFormat;

// Magnitudes from here on are infinite in the format; in groups, the scale or minimum is a float16.
float largest_finite(WeightFormat format) {
  // Halfway to the next power of two rounds up to infinity.
  const bool is_half = format == WeightFormat::kF16 || has_groups(format);
  return is_half ? 65520.0f : std::numeric_limits<float>::infinity();
}

bool keeps_values(TensorType type, WeightFormat format) {
  switch (format) {
    case WeightFormat::kQ8_0:
      return type == TensorType::kQ8_0 || type == TensorType::kQ5_0 || type == TensorType::kQ4_0;
    case WeightFormat::kQ4_0: return type == TensorType::kQ4_0;
    case WeightFormat::kQ4_1: return type == TensorType::kQ4_1;
    default: return false;
  }
}

bool is_finite_half(std::uint16_t bits) {
  return (bits & 0x7C00u) != 0x7C00u;
}

class Packer {
 public:
  Packer(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source, WeightFormat format, std::byte* packed)
      : checkpoint_(checkpoint),
        source_(source),
        shape_{format, source.out_features(), source.in_features},
        limit_(largest_finite(format)),
        packed_(packed) {}

  const kernels::PackedMatrixShape& shape() const { return shape_; }

  // Packs rows [begin, end) of the whole matrix; returns the tensor that holds an impossible value, or null.
  const TensorInfo* pack(std::int64_t begin, std::int64_t end) const {
    const TensorInfo* bad = nullptr;
    std::int64_t part_begin = 0;
    for (const MatrixPart& part : source_.parts) {
      const TensorInfo* tensor = checkpoint_.find(part.tensor);
      const std::int64_t part_end = part_begin + part.num_rows;
      const std::int64_t first = std::max(begin, part_begin), last = std::min(end, part_end);
      if (first < last) {
        const Range range{part_begin, first - part_begin, last - part_begin};
        const bool keep = keeps_values(tensor->type, shape_.format) && !part.transposed;
        const bool good = keep ? pack_as_stored(part, *tensor, range) : pack_rounded(part, *tensor, range);
        if (!good) bad = tensor;
      }
      part_begin = part_end;
    }
    return bad;
  }

 private:
  // Rows [begin, end) of a part whose first row is row `offset` of the matrix.
  struct Range {
    std::int64_t offset, begin, end;
  };

  bool pack_as_stored(const MatrixPart& part, const TensorInfo& tensor, const Range& range) const {
    bool good = true;
    checkpoint::SplitRow row;
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      checkpoint::split_row(tensor, stored_row(part, r), row);
      good &= std::all_of(row.scales.begin(), row.scales.end(), is_finite_half) &&
              std::all_of(row.minimums.begin(), row.minimums.end(), is_finite_half);
      // Files may use -128, which kernels do not; such a row is rounded anew.
      constexpr std::int8_t kOutOfRange = -128;
      if (std::find(row.quants.begin(), row.quants.end(), kOutOfRange) != row.quants.end()) {
        good &= pack_rounded(part, tensor, {range.offset, r, r + 1});
      } else {
        kernels::pack_row(shape_, {row.scales, row.minimums, row.quants}, range.offset + r, packed_);
      }
    }
    return good;
  }

  bool pack_rounded(const MatrixPart& part, const TensorInfo& tensor, const Range& range) const {
    const std::int64_t num_rows = range.end - range.begin;
    std::vector<float> rows(static_cast<std::size_t>(num_rows * source_.in_features));
    read(part, tensor, range, rows.data());
    if (!std::all_of(rows.begin(), rows.end(), [limit = limit_](float w) { return std::fabs(w) < limit; }))
      return false;
    kernels::pack_rows(shape_, rows.data(), range.offset + range.begin, num_rows, packed_);
    return true;
  }

  void read(const MatrixPart& part, const TensorInfo& tensor, const Range& range, float* rows) const {
    if (part.transposed) return read_columns(tensor, range, rows);
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      const std::int64_t stored = stored_row(part, row);
      checkpoint::Checkpoint::read_rows(tensor, stored, stored + 1, rows + (row - range.begin) * source_.in_features);
    }
  }

  void read_columns(const TensorInfo& tensor, const Range& range, float* rows) const {
    std::vector<float> elements(static_cast<std::size_t>(range.end - range.begin));
    for (std::int64_t i = 0; i < source_.in_features; ++i) {
      const std::int64_t first = i * tensor.row_size();
      checkpoint::Checkpoint::read_elements(tensor, first + range.begin, first + range.end, elements.data());
      for (std::size_t row = 0; row < elements.size(); ++row) {
        rows[static_cast<std::int64_t>(row) * source_.in_features + i] = elements[row];
      }
    }
  }

  const checkpoint::Checkpoint& checkpoint_;
  const MatrixSource& source_;
  const kernels::PackedMatrixShape shape_;
  const float limit_;
  std::byte* const packed_;
};

}  // namespace

base::Status pack_source(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source, WeightFormat format,
                         std::byte* packed, kernels::ThreadPool& pool) {
  const Packer packer(checkpoint, source, format, packed);
  std::mutex mutex;
  const TensorInfo* bad = nullptr;
  pool.parallel_for(packer.shape().num_panels(), [&](std::int64_t panel) {
    const std::int64_t begin = panel * kernels::kPanelWidth;
    const std::int64_t end = std::min(begin + kernels::kPanelWidth, packer.shape().out_features);
    const TensorInfo* found = packer.pack(begin, end);
    if (found == nullptr) return;
    const std::lock_guard lock(mutex);
    if (bad == nullptr || found->name < bad->name) bad = found;
  });
  if (bad == nullptr) return base::ok_status();
  return base::invalid_argument(bad->file + ": tensor " + bad->name + " holds values that are not finite in " +
                                std::string(to_string(format)) + " (try --weights bf16 or f32)");
}

}  // namespace trireme::model
