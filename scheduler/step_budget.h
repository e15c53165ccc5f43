// StepBudget: what is left of one step's estimated time. A token at position p costs 1 + context_cost * p, since
// attention reads all that came before it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trireme::scheduler {

class StepBudget {
 public:
  StepBudget(std::int32_t max_step_tokens, double context_cost) : rest_(max_step_tokens), context_cost_(context_cost) {}

  // Of the positions [begin, begin + count).
  double cost(std::int32_t begin, std::int32_t count) const {
    const double n = count;
    return n + context_cost_ * (n * begin + n * (n - 1) / 2);
  }

  // The most tokens from `begin` on, at most `wanted`, that fit what is left.
  std::int32_t tokens_that_fit(std::int32_t begin, std::int32_t wanted) const {
    std::int32_t fits = 0;
    std::int32_t too_many = wanted + 1;
    while (too_many - fits > 1) {
      const std::int32_t middle = fits + (too_many - fits) / 2;
      (cost(begin, middle) <= rest_ ? fits : too_many) = middle;
    }
    return fits;
  }

  // Leaves no more than so many tokens at the start of a context.
  void limit(std::int32_t tokens) { rest_ = std::min(rest_, static_cast<double>(tokens)); }
  double rest() const { return rest_; }

  void spend(std::int32_t begin, std::int32_t count) { rest_ -= cost(begin, count); }

 private:
  double rest_;
  double context_cost_;
};

}  // namespace trireme::scheduler
