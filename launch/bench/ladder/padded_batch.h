// PaddedBatch: what static batching makes of requests that run together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "launch/bench/ladder/workload.h"

namespace trireme::launch {

struct PaddedBatch {
  std::int32_t prompt_tokens = 0, output_tokens = 0;  // of every row: those of the longest
  std::int64_t padding_rows = 0;                      // tokens computed over all rows that belong to no request
};

// `items`: places in the workload.
inline PaddedBatch pad(const Workload& workload, const std::vector<std::size_t>& items) {
  PaddedBatch batch;
  for (const std::size_t item : items) {
    batch.prompt_tokens = std::max(batch.prompt_tokens, static_cast<std::int32_t>(workload[item].prompt.size()));
    batch.output_tokens = std::max(batch.output_tokens, workload[item].output_tokens);
  }
  for (const std::size_t item : items) {
    batch.padding_rows += batch.prompt_tokens + batch.output_tokens - 1 - rows_of(workload[item]);
  }
  return batch;
}

}  // namespace trireme::launch
