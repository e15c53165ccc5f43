// WeightPlan: the format and the bytes of every packed matrix of a model, worked out without touching a weight, the
// same on all ranks.
//
// What --weights means for a matrix, by the types in which the checkpoint stores its parts:
//     f32, f16, bf16   that
//     int8             int8 per output; the vocabulary's matrices, too, take q8_0, which costs the head little
//     q8               q8_0: parts stored as Q8_0, Q5_0 or Q4_0 keep their values
//     q4               the type of the file where all parts are stored as Q4_0 or as Q4_1, else q4_1; q8_0 for the
//                      vocabulary's matrices where the file does not hold them in 4 bits
//     auto             as q4 where all parts are stored in 4 bits (_0 or _1), else q8_0
// Learned positions, which are no Linear, stay in f16, and so do routers, which choose experts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/weight_format.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/config/config.h"
#include "runtime/model/model_description.h"
#include "runtime/model/stage_sources.h"

namespace trireme::model {

using FormatChooser = std::function<kernels::WeightFormat(const MatrixSource& source)>;

// The rules above; of a converted checkpoint, the formats that it holds. Tensors that are missing count as float ones.
// `checkpoint` outlives the result.
FormatChooser make_format_chooser(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model,
                                  config::Weights weights);

// Of a matrix that is packed in `format`.
kernels::PackedMatrixShape packed_shape(const MatrixSource& source, kernels::WeightFormat format);

struct PlannedMatrix {
  std::string tensor;  // of its first part
  kernels::WeightFormat format = kernels::WeightFormat::kF16;
  std::int64_t bytes = 0;        // of PackedMatrixShape::aligned_bytes()
  std::int64_t num_outputs = 0;  // the most floats that its bias may have
};

struct WeightPlan {
  std::vector<PlannedMatrix> first;  // embedding and positions
  std::vector<std::vector<PlannedMatrix>> layers;
  std::vector<PlannedMatrix> last;  // head
};
WeightPlan plan_weights(const ModelDescription& model, const FormatChooser& choose);

// Bytes of a stage's packed matrices, in order of loading one after the other.
std::int64_t matrix_bytes(const WeightPlan& plan, const ModelDescription& model, const StageSpec& stage);

// Bytes of a stage's weights: packed matrices, norms and, at the most, a bias per Linear.
std::int64_t stage_weight_bytes(const WeightPlan& plan, const ModelDescription& model, const StageSpec& stage);

// Every matrix of the model, an embedding that is also the head once.
std::vector<PlannedMatrix> all_matrices(const WeightPlan& plan, const ModelDescription& model);

// "q8_0", or of a mixture "q4_1 63.3 MiB, q8_0 28.7 MiB", largest first.
std::string describe_formats(const std::vector<PlannedMatrix>& matrices);

}  // namespace trireme::model
