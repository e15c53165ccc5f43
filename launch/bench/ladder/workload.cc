#include "launch/bench/ladder/workload.h"

#include <random>

#include "launch/bench/generation_rates.h"

namespace trireme::launch {
namespace {

// Where in each run of `period` items the special one is.
std::vector<bool> one_of_each(std::size_t period, std::size_t count, std::mt19937_64& random) {
  std::vector<bool> chosen(count, false);
  for (std::size_t begin = 0; begin < count; begin += period) {
    const std::size_t place = begin + random() % period;
    if (place < count) chosen[place] = true;
  }
  return chosen;
}

}  // namespace

Workload make_workload(const WorkloadShape& shape, std::int32_t vocab_size) {
  std::mt19937_64 random(shape.seed);
  const auto count = static_cast<std::size_t>(shape.num_requests);
  const std::vector<bool> is_long = one_of_each(kLongPeriod, count, random);
  const std::vector<bool> is_repeat = one_of_each(kRepeatPeriod, count, random);
  Workload workload;
  std::vector<std::size_t> originals[2];  // short ones, long ones
  int owed = 0;                           // repeats, while there was nothing to repeat
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::size_t>& earlier = originals[is_long[i] ? 1 : 0];
    const std::int32_t factor = is_long[i] ? kLongFactor : 1;
    WorkItem& item = workload.emplace_back();
    item.output_tokens = factor * shape.short_output;
    const std::uint64_t draw = random();
    owed += is_repeat[i] ? 1 : 0;
    if (owed > 0 && !earlier.empty()) {
      --owed;
      item.repeats = earlier[draw % earlier.size()];
      item.prompt = workload[*item.repeats].prompt;
    } else {
      item.prompt = random_prompt(factor * shape.short_prompt, vocab_size, draw);
      earlier.push_back(i);
    }
  }
  return workload;
}

scheduler::Request request_of(const WorkItem& item) {
  scheduler::Request request;
  request.prompt = item.prompt;
  request.max_tokens = item.output_tokens;
  return request;
}

std::int32_t longest_sequence(const WorkloadShape& shape) {
  return kLongFactor * (shape.short_prompt + shape.short_output);
}

std::int32_t average_sequence(const WorkloadShape& shape) {
  constexpr auto kPeriod = static_cast<std::int32_t>(kLongPeriod);
  return (kPeriod - 1 + kLongFactor) * (shape.short_prompt + shape.short_output) / kPeriod;
}

}  // namespace trireme::launch
