#include "runtime/sampling/softmax_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace trireme::sampling {
namespace {

// exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln 2 / 2: ln 2 in two parts (Cody and Waite 1980), exp(r) by its
// Taylor polynomial of degree 7. At kLowest the exponent field of 2^k is 0, and so is the result.
// Precondition: kLowest <= x <= 0.
constexpr float kLowest = -88.0296919f;  // -127 ln 2

inline float exp_of_nonpositive(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float k = (x * kLog2E + kRounder) - kRounder;
  const float r = (x - k * kLn2High) - k * kLn2Low;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(k) + 127) << 23);
}

}  // namespace

void softmax_weights(std::span<const float> logits, float max, float temperature, std::span<float> weights) {
  const float* __restrict input = logits.data();
  float* __restrict output = weights.data();
  // Divides: the reciprocal of a tiny temperature would be infinite. Two loops: in one, the compiler makes a branch of
  // the bound and no vector code.
  for (std::size_t i = 0; i < logits.size(); ++i) output[i] = std::max(kLowest, (input[i] - max) / temperature);
  for (std::size_t i = 0; i < logits.size(); ++i) output[i] = exp_of_nonpositive(output[i]);
}

double sum(std::span<const float> values) {
  std::array<double, 4> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= values.size(); i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += static_cast<double>(values[i + lane]);
  }
  for (; i < values.size(); ++i) lanes[0] += static_cast<double>(values[i]);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

}  // namespace trireme::sampling
