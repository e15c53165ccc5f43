// Q8_0, Q4_0, Q4_1, Q5_0, Q5_1: blocks of 32 elements with one float16 scale d and, for the _1 types, a float16 minimum
// m. 4-bit quants: byte j holds element j in its low half and element j + 16 in its high half. The fifth bits of all 32
// elements are one little-endian 32-bit word, element j in bit j.
#include <cstring>

#include "base/dtype.h"
#include "runtime/checkpoint/widen.h"

namespace trireme::checkpoint {
namespace {

constexpr int kBlockSize = 32;
constexpr int kHalf = kBlockSize / 2;

struct BlockQ8_0 {
  std::uint16_t d;
  std::int8_t quants[kBlockSize];
};
struct BlockQ4_0 {
  std::uint16_t d;
  std::uint8_t quants[kHalf];
};
struct BlockQ4_1 {
  std::uint16_t d, m;
  std::uint8_t quants[kHalf];
};
struct BlockQ5_0 {
  std::uint16_t d;
  std::uint8_t high_bits[4];
  std::uint8_t quants[kHalf];
};
struct BlockQ5_1 {
  std::uint16_t d, m;
  std::uint8_t high_bits[4];
  std::uint8_t quants[kHalf];
};
static_assert(sizeof(BlockQ8_0) == 34 && sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20);
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);

// Calls widen_block(block, output of that block) on each block.
template <typename Block, typename WidenBlock>
void for_each_block(const std::byte* input, std::int64_t count, float* output, WidenBlock widen_block) {
  for (std::int64_t i = 0; i < count / kBlockSize; ++i) {
    Block block;
    std::memcpy(&block, input + i * static_cast<std::int64_t>(sizeof(Block)), sizeof(Block));
    widen_block(block, output + i * kBlockSize);
  }
}

// The 5-bit quants of a block as integers 0 … 31.
template <typename Block>
void unpack_five_bits(const Block& block, std::int32_t* quants) {
  std::uint32_t high_bits;
  std::memcpy(&high_bits, block.high_bits, sizeof high_bits);
  for (int j = 0; j < kHalf; ++j) {
    quants[j] = static_cast<std::int32_t>((block.quants[j] & 15u) | ((high_bits >> j & 1u) << 4));
    quants[j + kHalf] = static_cast<std::int32_t>((block.quants[j] >> 4) | ((high_bits >> (j + kHalf) & 1u) << 4));
  }
}

}  // namespace

// d · q
void widen_q8_0(const std::byte* input, std::int64_t count, float* output) {
  for_each_block<BlockQ8_0>(input, count, output, [](const BlockQ8_0& block, float* out) {
    const float d = base::f16_to_f32(block.d);
    for (int j = 0; j < kBlockSize; ++j) out[j] = d * static_cast<float>(block.quants[j]);
  });
}

// d · (q - 8)
void widen_q4_0(const std::byte* input, std::int64_t count, float* output) {
  for_each_block<BlockQ4_0>(input, count, output, [](const BlockQ4_0& block, float* out) {
    const float d = base::f16_to_f32(block.d);
    for (int j = 0; j < kHalf; ++j) {
      out[j] = d * static_cast<float>((block.quants[j] & 15) - 8);
      out[j + kHalf] = d * static_cast<float>((block.quants[j] >> 4) - 8);
    }
  });
}

// d · q + m, rounded twice
void widen_q4_1(const std::byte* input, std::int64_t count, float* output) {
  for_each_block<BlockQ4_1>(input, count, output, [](const BlockQ4_1& block, float* out) {
    const float d = base::f16_to_f32(block.d);
    const float m = base::f16_to_f32(block.m);
    for (int j = 0; j < kHalf; ++j) {
      out[j] = d * static_cast<float>(block.quants[j] & 15) + m;
      out[j + kHalf] = d * static_cast<float>(block.quants[j] >> 4) + m;
    }
  });
}

// d · (q - 16)
void widen_q5_0(const std::byte* input, std::int64_t count, float* output) {
  for_each_block<BlockQ5_0>(input, count, output, [](const BlockQ5_0& block, float* out) {
    const float d = base::f16_to_f32(block.d);
    std::int32_t quants[kBlockSize];
    unpack_five_bits(block, quants);
    for (int j = 0; j < kBlockSize; ++j) out[j] = d * static_cast<float>(quants[j] - 16);
  });
}

// d · q + m, rounded twice
void widen_q5_1(const std::byte* input, std::int64_t count, float* output) {
  for_each_block<BlockQ5_1>(input, count, output, [](const BlockQ5_1& block, float* out) {
    const float d = base::f16_to_f32(block.d);
    const float m = base::f16_to_f32(block.m);
    std::int32_t quants[kBlockSize];
    unpack_five_bits(block, quants);
    for (int j = 0; j < kBlockSize; ++j) out[j] = d * static_cast<float>(quants[j]) + m;
  });
}

}  // namespace trireme::checkpoint
