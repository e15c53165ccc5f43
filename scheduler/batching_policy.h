// BatchingPolicy: when waiting sequences are admitted, and in what company. The default admits at once, in order of
// rank, which is best for an offline job.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace trireme::scheduler {

struct BatchingPolicy {
  // A sequence waits for company at most so long; not at all while nothing else would use the step, nor once enough
  // wait to fill it.
  std::chrono::milliseconds window{0};
  // Budget for prompts in a step in which other sequences decode: it bounds the time between their tokens. 0: none.
  std::int32_t mixed_prefill_tokens = 0;
  // Prompts shorter than bucket_bounds[0] are bucket 0, and so on; rising.
  std::vector<std::int32_t> bucket_bounds;
  // Sequences of one bucket that may run while those of other buckets wait; 0: any number.
  std::int32_t bucket_cap = 0;
  // One step of priority is worth so much time of waiting: so low priorities wait longer, but not for ever.
  std::chrono::milliseconds priority_worth{1000};
};

}  // namespace trireme::scheduler
