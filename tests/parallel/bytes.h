// Bytes that differ for every seed and position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trireme::test {

inline std::vector<std::byte> make_bytes(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761u + 12345u;
  for (auto& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

}  // namespace trireme::test
