// SplitMix64 (Steele, Lea, Flood 2014): a sequence of 64-bit numbers from a seed, any of which can be had at once.
#pragma once

#include <cstdint>

namespace trireme::base {

// Number `index` of the sequence of `seed`.
constexpr std::uint64_t split_mix64(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + index * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace trireme::base
