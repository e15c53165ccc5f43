// Splits elementwise work over the thread pool; small work stays on the calling thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/thread_pool.h"

namespace trireme::kernels::cpu {

// Elements that are worth a task: some microseconds of work.
inline constexpr std::int64_t kElementsPerTask = 16384;

// Calls body(begin, end) on ranges that cover [0, count); an item costs as much as `item_size` elements.
template <typename Body>
void parallel_ranges(ThreadPool& pool, std::int64_t count, std::int64_t item_size, const Body& body) {
  const std::int64_t items_per_task =
      std::max<std::int64_t>(1, kElementsPerTask / std::max<std::int64_t>(1, item_size));
  const std::int64_t num_tasks = (count + items_per_task - 1) / items_per_task;
  if (num_tasks <= 1) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  pool.parallel_for(
      num_tasks, [&](std::int64_t task) { body(task * items_per_task, std::min(count, (task + 1) * items_per_task)); });
}

}  // namespace trireme::kernels::cpu
