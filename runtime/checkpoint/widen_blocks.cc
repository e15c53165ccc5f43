// Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 (blocks.h).
#include <cstring>

#include "base/dtype.h"
#include "runtime/checkpoint/blocks.h"
#include "runtime/checkpoint/widen.h"

namespace trireme::checkpoint {
namespace {

// output = map(d, m, q) for each element; m is 0 where the type has none.
template <typename Block, typename Map>
void widen_blocks(const std::byte* input, std::int64_t count, float* output, Map map) {
  for (std::int64_t i = 0; i < count / kBlockSize; ++i, output += kBlockSize) {
    Block block;
    std::memcpy(&block, input + i * static_cast<std::int64_t>(sizeof(Block)), sizeof(Block));
    std::int32_t quants[kBlockSize];
    unpack_quants(block, quants);
    const float d = base::f16_to_f32(block.d);
    float m = 0.0f;
    if constexpr (requires { block.m; }) m = base::f16_to_f32(block.m);
    for (int j = 0; j < kBlockSize; ++j) output[j] = map(d, m, quants[j]);
  }
}

float scaled(float d, float, std::int32_t q) {
  return d * static_cast<float>(q);
}
float scaled_from_minimum(float d, float m, std::int32_t q) {
  return d * static_cast<float>(q) + m;
}

}  // namespace

// d · q
void widen_q8_0(const std::byte* input, std::int64_t count, float* output) {
  widen_blocks<BlockQ8_0>(input, count, output, scaled);
}

// d · (q - 8)
void widen_q4_0(const std::byte* input, std::int64_t count, float* output) {
  widen_blocks<BlockQ4_0>(input, count, output, [](float d, float m, std::int32_t q) { return scaled(d, m, q - 8); });
}

// d · q + m, rounded twice
void widen_q4_1(const std::byte* input, std::int64_t count, float* output) {
  widen_blocks<BlockQ4_1>(input, count, output, scaled_from_minimum);
}

// d · (q - 16)
void widen_q5_0(const std::byte* input, std::int64_t count, float* output) {
  widen_blocks<BlockQ5_0>(input, count, output, [](float d, float m, std::int32_t q) { return scaled(d, m, q - 16); });
}

// d · q + m, rounded twice
void widen_q5_1(const std::byte* input, std::int64_t count, float* output) {
  widen_blocks<BlockQ5_1>(input, count, output, scaled_from_minimum);
}

}  // namespace trireme::checkpoint
