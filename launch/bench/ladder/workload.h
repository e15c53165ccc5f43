// Workload: the requests that every rung of the ladder answers: four short ones to one five times as long, a third of
// them repeating an earlier one. The same for the same shape, whatever answers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/ids.h"
#include "scheduler/request.h"

namespace trireme::launch {

struct WorkloadShape {
  std::int32_t num_requests = 160;
  std::int32_t num_clients = 48;                      // each sends its next request when its last is answered
  std::int32_t short_prompt = 24, short_output = 12;  // tokens; those of long requests: kLongFactor times as many
  std::uint64_t seed = 1;
};
inline constexpr std::int32_t kLongFactor = 5;
inline constexpr std::size_t kLongPeriod = 5;    // one request of so many is long
inline constexpr std::size_t kRepeatPeriod = 3;  // one of so many repeats an earlier one of its length

struct WorkItem {
  std::vector<scheduler::TokenId> prompt;
  std::int32_t output_tokens = 0;
  std::optional<std::size_t> repeats;  // the item whose prompt it has
};
using Workload = std::vector<WorkItem>;  // in order of arrival

// Prompts of random ids below vocab_size.
Workload make_workload(const WorkloadShape& shape, std::int32_t vocab_size);

// Greedy, of so many tokens whatever they are.
scheduler::Request request_of(const WorkItem& item);

// Prompt and output tokens of the longest request.
std::int32_t longest_sequence(const WorkloadShape& shape);
std::int32_t average_sequence(const WorkloadShape& shape);

// Positions that a request has computed when it is answered: the last output token is not.
inline std::int64_t rows_of(const WorkItem& item) {
  return static_cast<std::int64_t>(item.prompt.size()) + item.output_tokens - 1;
}

}  // namespace trireme::launch
