// One task of a Linear with quantised weights, and the function per instruction set that runs it. All give the same
// bits (contract: LinearArgs in kernels/ops.h), so which of them runs is the choice of each machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ops.h"
#include "kernels/quantised_rows.h"

namespace trireme::kernels::cpu {

struct QuantisedTask {
  const LinearArgs& args;
  const QuantisedRows& rows;
  std::int64_t row_begin, row_end;
  std::int64_t panel_begin, panel_end;
  std::byte* scratch;  // quantised_scratch_bytes(), 64-byte aligned
};

using QuantisedTaskFunction = void(const QuantisedTask& task);

void quantised_task_avx2(const QuantisedTask& task);
void quantised_task_avx2_vnni(const QuantisedTask& task);
void quantised_task_avx512_vnni(const QuantisedTask& task);
void quantised_task_amx(const QuantisedTask& task);

// What a task needs at most for a matrix of this shape.
std::size_t quantised_scratch_bytes(const PackedMatrixShape& shape);

// Where the sums of one panel go, and what is added to them.
struct PanelOutput {
  float* output;      // of the panel's first out_feature in row 0
  const float* bias;  // likewise, or null
  std::int64_t stride;
  std::int64_t width;  // out_features that exist, at most kPanelWidth
  OutputMode mode;

  PanelOutput(const LinearArgs& args, std::int64_t panel)
      : output(args.output + panel * kPanelWidth),
        bias(args.bias == nullptr ? nullptr : args.bias + panel * kPanelWidth),
        stride(args.output_stride),
        width(args.weights.shape.out_features - panel * kPanelWidth < kPanelWidth
                  ? args.weights.shape.out_features - panel * kPanelWidth
                  : kPanelWidth),
        mode(args.mode) {}
};

}  // namespace trireme::kernels::cpu
