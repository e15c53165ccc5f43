#include <cmath>

#include "base/aligned_buffer.h"
#include "kernels/quantised_rows.h"
#include "kernels/reference/operations.h"
#include "kernels/reference/packed_element.h"
#include "kernels/reference/quantise_row.h"

namespace trireme::kernels::reference {
namespace {

void float_linear(const LinearArgs& args) {
  const PackedMatrixShape& shape = args.weights.shape;
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const float* input = args.input + r * args.input_stride;
    float* output = args.output + r * args.output_stride;
    for (std::int64_t o = 0; o < shape.out_features; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < shape.in_features; ++i) {
        sum += static_cast<double>(input[i]) * packed_element(args.weights, o, i);
      }
      if (args.bias != nullptr) sum += args.bias[o];
      if (args.mode == OutputMode::kAdd) sum += output[o];
      output[o] = static_cast<float>(sum);
    }
  }
}

// The sum s of the contract for output `out` of the only row of `input`.
float quantised_sum(const PackedMatrixView& weights, const QuantisedRows& input, std::int64_t out) {
  float sum = 0.0f;
  for (std::int64_t b = 0; b < input.num_blocks; ++b) {
    const std::int64_t begin = b * input.block_size();
    std::int32_t whole = 0;
    for (std::int64_t i = begin; i < begin + input.block_size(); ++i) {
      whole += input.values[i] * quantised_element(weights, out, i).quant;
    }
    const QuantisedElement first = quantised_element(weights, out, begin);
    const float scale = input.scales[b * input.stride] * first.scale;
    if (weights.shape.format == WeightFormat::kInt8) return static_cast<float>(whole) * scale;
    sum = std::fma(static_cast<float>(whole), scale, sum);
    if (weights.shape.format == WeightFormat::kQ4_1)
      sum = std::fma(input.scaled_sums[b * input.stride], first.minimum, sum);
  }
  return sum;
}

void quantised_linear(const LinearArgs& args) {
  const PackedMatrixShape& shape = args.weights.shape;
  base::AlignedBuffer<std::byte> memory(QuantisedRows::bytes(shape, 1));
  const QuantisedRows input(shape, 1, memory.data());
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    quantise_row(args.input + r * args.input_stride, shape.in_features, 0, input);
    float* output = args.output + r * args.output_stride;
    for (std::int64_t o = 0; o < shape.out_features; ++o) {
      float sum = quantised_sum(args.weights, input, o);
      if (args.bias != nullptr) sum += args.bias[o];
      output[o] = args.mode == OutputMode::kAdd ? output[o] + sum : sum;
    }
  }
}

}  // namespace

void linear(const LinearArgs& args) {
  if (is_quantised(args.weights.shape.format)) {
    quantised_linear(args);
  } else {
    float_linear(args);
  }
}

}  // namespace trireme::kernels::reference
