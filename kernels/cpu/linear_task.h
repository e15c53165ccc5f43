// How Linear is cut into tasks for threads. Bits do not depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/ops.h"

namespace trireme::kernels::cpu {

// A widened block, kDepthBlock * kPanelWidth floats, and the rows that meet it share the first-level cache.
inline constexpr std::size_t kDepthBlock = 256;
// Rows whose sums for one panel, kPanelWidth floats each, a thread keeps.
inline constexpr std::int64_t kRowChunk = 384;

struct LinearTask {
  std::int64_t row_begin, row_end;
  std::int64_t panel_begin, panel_end;
};

struct LinearScratch {
  float* widened;  // [kDepthBlock, kPanelWidth]
  float* sums;     // [kRowChunk, kPanelWidth]

  explicit LinearScratch(float* memory) : widened(memory), sums(memory + kDepthBlock * kPanelWidth) {}
  static constexpr std::size_t bytes() {
    return (kDepthBlock + static_cast<std::size_t>(kRowChunk)) * static_cast<std::size_t>(kPanelWidth) * sizeof(float);
  }
};

// Chunks of rows times ranges of panels; ranges of one chunk come first, so that threads read neighbouring weights.
class LinearSplit {
 public:
  LinearSplit(const LinearArgs& args, int num_threads)
      : num_rows_(args.num_rows),
        num_panels_(args.weights.shape.num_panels()),
        num_row_chunks_((num_rows_ + kRowChunk - 1) / kRowChunk),
        panels_per_task_(std::max<std::int64_t>(1, num_panels_ / (tasks_per_thread(num_rows_) * num_threads))),
        num_panel_ranges_((num_panels_ + panels_per_task_ - 1) / panels_per_task_) {}

  std::int64_t num_tasks() const { return num_row_chunks_ * num_panel_ranges_; }

  LinearTask task(std::int64_t index) const {
    const std::int64_t chunk = index / num_panel_ranges_;
    const std::int64_t range = index % num_panel_ranges_;
    return {chunk * num_rows_ / num_row_chunks_, (chunk + 1) * num_rows_ / num_row_chunks_, range * panels_per_task_,
            std::min(num_panels_, (range + 1) * panels_per_task_)};
  }

 private:
  // Few rows are bound by memory, which is read fastest in long runs; many rows by arithmetic, which wants balance.
  static constexpr std::int64_t kMaxFewRows = 64;
  static constexpr std::int64_t tasks_per_thread(std::int64_t num_rows) { return num_rows <= kMaxFewRows ? 4 : 16; }

  std::int64_t num_rows_;
  std::int64_t num_panels_;
  std::int64_t num_row_chunks_;
  std::int64_t panels_per_task_;
  std::int64_t num_panel_ranges_;
};

}  // namespace trireme::kernels::cpu
