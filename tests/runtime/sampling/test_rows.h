// Rows of logits for the tests of sampling.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace trireme::sampling {

// Normally distributed; with `distinct` > 0 rounded to so many values, so that there are ties.
inline std::vector<float> random_logits(std::size_t size, std::uint32_t seed, float deviation = 3.0f,
                                        int distinct = 0) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> logits(size);
  for (float& logit : logits) {
    logit = normal(engine);
    if (distinct > 0) logit = static_cast<float>(static_cast<int>(logit * 100.0f) % distinct);
  }
  return logits;
}

}  // namespace trireme::sampling
