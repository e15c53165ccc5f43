// MatrixSource: where the rows of one packed matrix come from: parts of the checkpoint, one below the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/packed_matrix.h"
#include "kernels/thread_pool.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::model {

struct MatrixPart {
  std::string tensor;
  std::int64_t num_rows = 0;
  std::int64_t interleaved_head_dim = 0;  // > 0: rows of each head are stored in pairs (2j, 2j+1) = (j, j + head_dim/2)

  // Of a tensor that holds more than this part: its shape, outermost first (empty: [num_rows, in_features]), the part's
  // first row, and, where heads of several parts take turns, the rows of a head and from one to the part's next.
  std::vector<std::int64_t> tensor_shape = {};
  std::int64_t first_row = 0;
  std::int64_t head_rows = 0;
  std::int64_t head_stride = 0;

  bool transposed = false;  // the tensor is [in_features, num_rows] (GPT-2's Conv1D)
};

struct MatrixSource {
  std::vector<MatrixPart> parts;
  std::int64_t in_features = 0;
  std::string name = "";  // "layers/3/qkv": what a converted checkpoint calls it, one each

  std::int64_t out_features() const;
};

// Row of the part's tensor that holds row `row` of the part as the kernels want it.
std::int64_t stored_row(const MatrixPart& part, std::int64_t row);

// All parts' tensors exist with the shape that is expected of them.
base::Status check_source(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source);

// Packs the whole matrix into `packed` (zeroed); rows whose stored values `format` can hold as they are keep them.
// Error: a value that is not finite in the target format. Precondition: check_source holds.
base::Status pack_source(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source,
                         kernels::WeightFormat format, std::byte* packed, kernels::ThreadPool& pool);

// "….weight" → "….bias"; empty for other names.
std::string bias_name(const std::string& weight);

// The parts' biases ("….weight" → "….bias") one after the other, zeros where a part has none; empty if no part has one.
base::Result<std::vector<float>> read_bias(const checkpoint::Checkpoint& checkpoint, const MatrixSource& source);

// A vector tensor of `size` elements with `offset` added to each.
base::Result<std::vector<float>> read_vector(const checkpoint::Checkpoint& checkpoint, const std::string& name,
                                             std::int64_t size, float offset);

}  // namespace trireme::model
