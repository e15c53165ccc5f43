// A small random model with all that calibration asks for.
#pragma once

#include <memory>
#include <string>

#include "kernels/ops.h"
#include "runtime/calibration/whole_model.h"

namespace trireme::test {

struct SmallModel {
  explicit SmallModel(const std::string& name);

  std::unique_ptr<calibration::WholeModel> load(const model::FormatChooser& choose, std::int32_t max_tokens);
  // Texts of `size` tokens that only the index decides.
  std::vector<calibration::Tokens> texts(std::size_t count, std::size_t size) const;

  kernels::ThreadPool pool{2};
  std::unique_ptr<kernels::Ops> ops;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint;
  model::ModelDescription description;
  model::FormatChooser int8, f32;
};

}  // namespace trireme::test
