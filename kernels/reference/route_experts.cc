#include <algorithm>
#include <cmath>

#include "kernels/reference/operations.h"

namespace trireme::kernels::reference {
namespace {

bool is_among(std::int32_t expert, const std::int32_t* chosen, std::int64_t count) {
  return std::find(chosen, chosen + count, expert) != chosen + count;
}

// Always a valid expert, even if the logits are not numbers.
std::int32_t best_of_the_others(const float* logits, std::int64_t num_experts, const std::int32_t* chosen,
                                std::int64_t num_chosen) {
  std::int32_t best = -1;
  for (std::int32_t expert = 0; expert < num_experts; ++expert) {
    if (is_among(expert, chosen, num_chosen)) continue;
    if (best < 0 || logits[expert] > logits[best]) best = expert;
  }
  return best;
}

}  // namespace

// Every CPU back end uses this one: exponentials are taken in double.
void route_experts(const RouteExpertsArgs& args) {
  for (std::int64_t r = 0; r < args.num_rows; ++r) {
    const float* logits = args.logits + r * args.num_experts;
    std::int32_t* chosen = args.experts + r * args.num_chosen;
    float* weights = args.weights + r * args.num_chosen;
    for (std::int64_t c = 0; c < args.num_chosen; ++c) {
      chosen[c] = best_of_the_others(logits, args.num_experts, chosen, c);
    }
    const double maximum = logits[chosen[0]];
    double sum = 0;
    for (std::int64_t c = 0; c < args.num_chosen; ++c) sum += std::exp(logits[chosen[c]] - maximum);
    if (!args.renormalise) {
      sum = 0;
      for (std::int64_t e = 0; e < args.num_experts; ++e) sum += std::exp(logits[e] - maximum);
    }
    for (std::int64_t c = 0; c < args.num_chosen; ++c) {
      weights[c] = static_cast<float>(std::exp(logits[chosen[c]] - maximum) / sum);
    }
  }
}

}  // namespace trireme::kernels::reference
