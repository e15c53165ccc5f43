#include <algorithm>
#include <cstddef>

#include "runtime/sampling/sampler.h"
#include "runtime/sampling/select_largest.h"

namespace trireme::sampling {

std::vector<scheduler::TokenLogprob> top_logprobs(std::span<const float> logits, float log_sum_exp,
                                                  std::int32_t count) {
  std::vector<std::int32_t> order;
  select_largest(logits, static_cast<std::size_t>(std::max(count, 0)), order);
  std::vector<scheduler::TokenLogprob> top;
  top.reserve(order.size());
  for (const std::int32_t id : order) top.push_back({id, logits[static_cast<std::size_t>(id)] - log_sum_exp});
  return top;
}

}  // namespace trireme::sampling
