// One pass over a row of logits: its largest element, and whether it can be sampled from at all.
#pragma once

#include <cstdint>
#include <span>

namespace trireme::sampling {

struct RowScan {
  float max = 0.0f;
  std::int32_t argmax = 0;  // the lowest id among equals
  bool finite = false;      // no NaN, no +inf, and not everything -inf; else the other fields mean nothing
};

RowScan scan_row(std::span<const float> row);

}  // namespace trireme::sampling
