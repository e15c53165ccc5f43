// LinearProbe: Ops in which one matrix can be swapped for the same in another format, and in which somebody may look at
// what each Linear multiplies. Everything else is what the Ops beneath do.
#pragma once

#include <functional>

#include "runtime/calibration/ops_decorator.h"

namespace trireme::calibration {

class LinearProbe final : public OpsDecorator {
 public:
  using OpsDecorator::OpsDecorator;
  // A Linear's rows, before it is computed; called with each expert's rows on their own.
  using Observer = std::function<void(const kernels::LinearArgs& args)>;

  void observe(Observer observer) { observer_ = std::move(observer); }  // null: nobody
  // Linears with the matrix whose data lie at `original` multiply by `substitute` until clear_substitute().
  void substitute(const std::byte* original, kernels::PackedMatrixView substitute);
  void clear_substitute() { original_ = nullptr; }

  void linear(const kernels::LinearArgs& args, base::Stream stream) override;
  // Expert by expert, which gives a row the same bits.
  void grouped_linear(const kernels::GroupedLinearArgs& args, base::Stream stream) override;

 private:
  Observer observer_;
  const std::byte* original_ = nullptr;
  kernels::PackedMatrixView substitute_;
};

}  // namespace trireme::calibration
