#include "runtime/calibration/linear_probe.h"

namespace trireme::calibration {

void LinearProbe::substitute(const std::byte* original, kernels::PackedMatrixView substitute) {
  original_ = original;
  substitute_ = substitute;
}

void LinearProbe::linear(const kernels::LinearArgs& args, base::Stream stream) {
  if (observer_) observer_(args);
  if (original_ == nullptr || args.weights.data != original_) {
    inner_.linear(args, stream);
    return;
  }
  kernels::LinearArgs changed = args;
  changed.weights = substitute_;
  inner_.linear(changed, stream);
}

void LinearProbe::grouped_linear(const kernels::GroupedLinearArgs& args, base::Stream stream) {
  for (std::size_t i = 0; i < args.weights.size(); ++i) {
    const kernels::LinearArgs group = args.group(i);
    if (group.num_rows > 0) linear(group, stream);
  }
}

}  // namespace trireme::calibration
