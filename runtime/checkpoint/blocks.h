// The blocks of 32 elements that GGUF stores: one float16 scale d and, for the _1 types, a float16 minimum m. 4-bit
// quants: byte j holds element j in its low half and element j + 16 in its high half. The fifth bits of all 32 elements
// are one little-endian 32-bit word, element j in bit j.
#pragma once

#include <cstdint>
#include <cstring>

namespace trireme::checkpoint {

inline constexpr int kBlockSize = 32;
inline constexpr int kHalfBlock = kBlockSize / 2;

struct BlockQ8_0 {
  std::uint16_t d;
  std::int8_t quants[kBlockSize];
};
struct BlockQ4_0 {
  std::uint16_t d;
  std::uint8_t quants[kHalfBlock];
};
struct BlockQ4_1 {
  std::uint16_t d, m;
  std::uint8_t quants[kHalfBlock];
};
struct BlockQ5_0 {
  std::uint16_t d;
  std::uint8_t high_bits[4];
  std::uint8_t quants[kHalfBlock];
};
struct BlockQ5_1 {
  std::uint16_t d, m;
  std::uint8_t high_bits[4];
  std::uint8_t quants[kHalfBlock];
};
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20);
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);

// The 32 quants of a block as whole numbers, as stored.
inline void unpack_quants(const BlockQ8_0& block, std::int32_t* quants) {
  for (int j = 0; j < kBlockSize; ++j) quants[j] = block.quants[j];
}
template <typename Block>
void unpack_quants(const Block& block, std::int32_t* quants) {
  std::uint32_t high_bits = 0;
  if constexpr (requires { block.high_bits; }) std::memcpy(&high_bits, block.high_bits, sizeof high_bits);
  for (int j = 0; j < kHalfBlock; ++j) {
    quants[j] = static_cast<std::int32_t>((block.quants[j] & 15u) | ((high_bits >> j & 1u) << 4));
    quants[j + kHalfBlock] =
        static_cast<std::int32_t>((block.quants[j] >> 4) | ((high_bits >> (j + kHalfBlock) & 1u) << 4));
  }
}

}  // namespace trireme::checkpoint
