// Q4_K, Q5_K, Q6_K: super-blocks of 256 elements. Q4_K and Q5_K have eight sub-blocks of 32, each with a 6-bit scale
// and a 6-bit minimum, which two float16 factors multiply; Q6_K has sixteen sub-blocks of 16 with an 8-bit scale each.
#include <cstring>

#include "base/dtype.h"
#include "runtime/checkpoint/widen.h"

namespace trireme::checkpoint {
namespace {

constexpr int kSuperBlockSize = 256;

struct BlockQ4_K {
  std::uint16_t d, d_min;
  std::uint8_t scales[12];
  std::uint8_t quants[128];  // 32 bytes for two sub-blocks: the first in the low halves, the second in the high ones
};
struct BlockQ5_K {
  std::uint16_t d, d_min;
  std::uint8_t scales[12];
  std::uint8_t high_bits[32];  // bit s of byte j: the fifth bit of element j of sub-block s
  std::uint8_t quants[128];
};
struct BlockQ6_K {
  std::uint8_t low_bits[128];  // 64 bytes for 128 elements, as in Q4_K but in runs of 64
  std::uint8_t high_bits[64];  // 32 bytes for 128 elements: bits 2 k and 2 k + 1 of byte j for element 32 k + j
  std::int8_t scales[16];
  std::uint16_t d;
};
static_assert(sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210);

template <typename Block, typename WidenBlock>
void for_each_super_block(const std::byte* input, std::int64_t count, float* output, WidenBlock widen_block) {
  for (std::int64_t i = 0; i < count / kSuperBlockSize; ++i) {
    Block block;
    std::memcpy(&block, input + i * static_cast<std::int64_t>(sizeof(Block)), sizeof(Block));
    widen_block(block, output + i * kSuperBlockSize);
  }
}

struct SubBlockFactors {
  float scale[8];
  float minimum[8];
};

// Scales and minima of sub-blocks 0 … 3 are the low six bits of bytes 0 … 3 and 4 … 7. Those of 4 … 7 have their low
// four bits in the halves of bytes 8 … 11 and their high two in the top of bytes 0 … 3 and 4 … 7.
template <typename Block>
SubBlockFactors unpack_factors(const Block& block) {
  const float d = base::f16_to_f32(block.d);
  const float d_min = base::f16_to_f32(block.d_min);
  const std::uint8_t* packed = block.scales;
  SubBlockFactors factors;
  for (int s = 0; s < 4; ++s) {
    factors.scale[s] = d * static_cast<float>(packed[s] & 63);
    factors.minimum[s] = d_min * static_cast<float>(packed[s + 4] & 63);
    factors.scale[s + 4] = d * static_cast<float>((packed[s + 8] & 15) | (packed[s] >> 6 << 4));
    factors.minimum[s + 4] = d_min * static_cast<float>((packed[s + 8] >> 4) | (packed[s + 4] >> 6 << 4));
  }
  return factors;
}

}  // namespace

// (d · scale) · q - (d_min · minimum)
void widen_q4_k(const std::byte* input, std::int64_t count, float* output) {
  for_each_super_block<BlockQ4_K>(input, count, output, [](const BlockQ4_K& block, float* out) {
    const SubBlockFactors factors = unpack_factors(block);
    for (int s = 0; s < 8; ++s) {
      const float scale = factors.scale[s];
      const float minimum = factors.minimum[s];
      const int shift = s % 2 * 4;
      for (int j = 0; j < 32; ++j) {
        out[s * 32 + j] = scale * static_cast<float>(block.quants[s / 2 * 32 + j] >> shift & 15) - minimum;
      }
    }
  });
}

// (d · scale) · q - (d_min · minimum)
void widen_q5_k(const std::byte* input, std::int64_t count, float* output) {
  for_each_super_block<BlockQ5_K>(input, count, output, [](const BlockQ5_K& block, float* out) {
    const SubBlockFactors factors = unpack_factors(block);
    for (int s = 0; s < 8; ++s) {
      const float scale = factors.scale[s];
      const float minimum = factors.minimum[s];
      const int shift = s % 2 * 4;
      for (int j = 0; j < 32; ++j) {
        const int low = block.quants[s / 2 * 32 + j] >> shift & 15;
        const int high = block.high_bits[j] >> s & 1;
        out[s * 32 + j] = scale * static_cast<float>(low | high << 4) - minimum;
      }
    }
  });
}

// (d · scale) · (q - 32)
void widen_q6_k(const std::byte* input, std::int64_t count, float* output) {
  for_each_super_block<BlockQ6_K>(input, count, output, [](const BlockQ6_K& block, float* out) {
    const float d = base::f16_to_f32(block.d);
    for (int s = 0; s < 16; ++s) {
      const float scale = d * static_cast<float>(block.scales[s]);
      const int first = s * 16;
      const int half = first / 128;    // of the super-block
      const int run = first / 32 % 4;  // of 32 elements, within the half
      const int column = first % 32;
      const std::uint8_t* low_bits = block.low_bits + half * 64 + run % 2 * 32 + column;
      const std::uint8_t* high_bits = block.high_bits + half * 32 + column;
      for (int j = 0; j < 16; ++j) {
        const int low = low_bits[j] >> (run / 2 * 4) & 15;
        const int high = high_bits[j] >> (run * 2) & 3;
        out[first + j] = scale * static_cast<float>((low | high << 4) - 32);
      }
    }
  });
}

}  // namespace trireme::checkpoint
