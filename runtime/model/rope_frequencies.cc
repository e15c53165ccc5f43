#include "runtime/model/rope_frequencies.h"

#include <cmath>
#include <numbers>

namespace trireme::model {

std::vector<float> rope_frequencies(std::int32_t rotary_dim, double base) {
  std::vector<float> frequencies(static_cast<std::size_t>(rotary_dim / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_dim);
    frequencies[i] = 1.0f / std::pow(static_cast<float>(base), exponent);
  }
  return frequencies;
}

void scale_linear(std::vector<float>& frequencies, double factor) {
  for (float& frequency : frequencies) frequency /= static_cast<float>(factor);
}

void scale_llama3(std::vector<float>& frequencies, const Llama3Scaling& scaling) {
  const double longest_kept = scaling.original_context / scaling.high_freq_factor;
  const double shortest_stretched = scaling.original_context / scaling.low_freq_factor;
  for (float& frequency : frequencies) {
    const double wavelength = 2.0 * std::numbers::pi / frequency;
    if (wavelength < longest_kept) continue;
    double kept = 0.0;
    if (wavelength <= shortest_stretched) {
      kept = (scaling.original_context / wavelength - scaling.low_freq_factor) /
             (scaling.high_freq_factor - scaling.low_freq_factor);
    }
    frequency = static_cast<float>((1.0 - kept) * frequency / scaling.factor + kept * frequency);
  }
}

}  // namespace trireme::model
