// Philox 4x32-10, the counter-based random generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011): a bijection of the counter under a key, without state.
#pragma once

#include <array>
#include <cstdint>

namespace trireme::sampling {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

}  // namespace trireme::sampling
