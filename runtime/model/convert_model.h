// Conversion of a model: every matrix packed as load_stage_weights would pack it, into one file that is loaded as it
// lies.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "kernels/thread_pool.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/hdf5/hdf5_writer.h"
#include "runtime/model/model_description.h"
#include "runtime/model/weight_plan.h"

namespace trireme::model {

struct ConvertProgress {
  std::string_view matrix;  // written just now
  std::int64_t done_bytes = 0;
  std::int64_t total_bytes = 0;  // of all matrices
};
// False: the user wants to stop.
using ConvertObserver = std::function<bool(const ConvertProgress& progress)>;

// The name under which a directory's or file's path is recorded: its last component.
std::string source_name(const checkpoint::Checkpoint& checkpoint);

// Fills `writer` and finishes it: the file is there, whole, when this returns ok. Errors: a tensor is missing, has the
// wrong shape or values that are not finite; the observer stopped it. Throws checkpoint::Hdf5Error.
base::Status convert_model(const checkpoint::Checkpoint& checkpoint, const ModelDescription& model,
                           const FormatChooser& choose, kernels::ThreadPool& pool, checkpoint::Hdf5Writer& writer,
                           const ConvertObserver& observe);

}  // namespace trireme::model
