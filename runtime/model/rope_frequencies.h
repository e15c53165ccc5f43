// Frequencies of rotary embeddings (Su et al. 2021) with the scalings that models bring.
#pragma once

#include <cstdint>
#include <vector>

namespace trireme::model {

// inverse_frequencies[i] = base^(-2i / rotary_dim), in float32 as the models were trained.
std::vector<float> rope_frequencies(std::int32_t rotary_dim, double base);

// Position interpolation (Chen et al. 2023): all divided by factor.
void scale_linear(std::vector<float>& frequencies, double factor);

// Llama 3.1's scaling: wavelengths beyond original_context / low_freq_factor are stretched by factor, those below
// original_context / high_freq_factor are kept, and those between are interpolated.
struct Llama3Scaling {
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_context = 8192.0;
};
void scale_llama3(std::vector<float>& frequencies, const Llama3Scaling& scaling);

}  // namespace trireme::model
