// Unnormalised softmax weights, exp((logit - max) / temperature): in [0, 1], and exactly 1 for the largest logit.
#pragma once

#include <span>

namespace trireme::sampling {

// weights[i] for logits[i]; same sizes, no aliasing. max: of logits, finite. temperature > 0, down to denormal numbers.
// Relative error below 4e-7. Weights under 2^-126 become 0: all of them together are far below a draw's
// resolution of 2^-53. The exponential is our own, so that a draw does not depend on the machine's mathematics library.
void softmax_weights(std::span<const float> logits, float max, float temperature, std::span<float> weights);

// Sum in double over a fixed order.
double sum(std::span<const float> values);

}  // namespace trireme::sampling
