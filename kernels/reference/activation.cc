#include <cmath>
#include <numbers>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {
namespace {

double activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kSilu: return x / (1 + std::exp(-x));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluErf: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::kRelu: return x > 0 || std::isnan(x) ? x : 0;
  }
  return x;
}

}  // namespace

void activation(const ActivationArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    for (std::int64_t i = 0; i < args.row_size; ++i) {
      const std::int64_t input = r * args.input_stride + i;
      const double factor = args.up != nullptr ? args.up[input] : 1.0;
      args.output[r * args.output_stride + i] =
          static_cast<float>(activate(args.gate[input], args.activation) * factor);
    }
  }
}

}  // namespace trireme::kernels::reference
