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

// Panels [0, num_panels) in ranges that become shorter, half of what is left in each round of one range per thread
// (factoring; Hummel, Schonberg and Flynn, 1992): long runs first, and all threads end at nearly the same time.
class ShrinkingRanges {
 public:
  ShrinkingRanges(std::int64_t num_panels, int num_threads) : num_panels_(num_panels), num_threads_(num_threads) {
    for (std::int64_t left = num_panels; left > 0; left -= num_threads_ * size(left)) {
      count_ += std::min(num_threads_, left);
    }
  }

  std::int64_t count() const { return count_; }

  LinearTask panels(LinearTask task, std::int64_t index) const {
    std::int64_t begin = 0;
    for (; index >= num_threads_; index -= num_threads_) begin += num_threads_ * size(num_panels_ - begin);
    const std::int64_t length = size(num_panels_ - begin);
    task.panel_begin = begin + index * length;
    task.panel_end = task.panel_begin + length;
    return task;
  }

 private:
  std::int64_t size(std::int64_t left) const { return std::max<std::int64_t>(1, left / (2 * num_threads_)); }

  std::int64_t num_panels_;
  std::int64_t num_threads_;
  std::int64_t count_ = 0;
};

// Chunks of rows times ranges of panels; ranges of one chunk come first, so that threads read neighbouring weights.
// Few rows are bound by memory, which is read fastest in long runs; many rows by arithmetic, which wants short ranges.
class LinearSplit {
 public:
  LinearSplit(const LinearArgs& args, int num_threads)
      : num_rows_(args.num_rows),
        num_panels_(args.weights.shape.num_panels()),
        num_row_chunks_((num_rows_ + kRowChunk - 1) / kRowChunk),
        panels_per_task_(std::max<std::int64_t>(1, num_panels_ / (kTasksPerThread * num_threads))),
        shrinking_(num_panels_, num_threads),
        num_panel_ranges_(is_bound_by_memory(num_rows_) ? shrinking_.count()
                                                        : (num_panels_ + panels_per_task_ - 1) / panels_per_task_) {}

  static constexpr bool is_bound_by_memory(std::int64_t num_rows) { return num_rows <= 64; }

  std::int64_t num_tasks() const { return num_row_chunks_ * num_panel_ranges_; }

  LinearTask task(std::int64_t index) const {
    const std::int64_t chunk = index / num_panel_ranges_, range = index % num_panel_ranges_;
    const LinearTask task{chunk * num_rows_ / num_row_chunks_, (chunk + 1) * num_rows_ / num_row_chunks_,
                          range * panels_per_task_, std::min(num_panels_, (range + 1) * panels_per_task_)};
    return is_bound_by_memory(num_rows_) ? shrinking_.panels(task, range) : task;
  }

 private:
  static constexpr std::int64_t kTasksPerThread = 16;

  std::int64_t num_rows_;
  std::int64_t num_panels_;
  std::int64_t num_row_chunks_;
  std::int64_t panels_per_task_;
  ShrinkingRanges shrinking_;
  std::int64_t num_panel_ranges_;
};

}  // namespace trireme::kernels::cpu
