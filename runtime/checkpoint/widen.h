// Widening of stored elements to float32, one function per TensorType. Float types are exact; block types give the
// value that the format defines, computed in float32 in the order written at each function. Common contract: `input`
// holds `count` elements, a whole number of blocks, at any alignment; output[count] does not overlap it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme::checkpoint {

using WidenFunction = void (*)(const std::byte* input, std::int64_t count, float* output);

void widen_f32(const std::byte* input, std::int64_t count, float* output);
void widen_f16(const std::byte* input, std::int64_t count, float* output);
void widen_bf16(const std::byte* input, std::int64_t count, float* output);
void widen_q8_0(const std::byte* input, std::int64_t count, float* output);
void widen_q4_0(const std::byte* input, std::int64_t count, float* output);
void widen_q4_1(const std::byte* input, std::int64_t count, float* output);
void widen_q5_0(const std::byte* input, std::int64_t count, float* output);
void widen_q5_1(const std::byte* input, std::int64_t count, float* output);
void widen_q4_k(const std::byte* input, std::int64_t count, float* output);
void widen_q5_k(const std::byte* input, std::int64_t count, float* output);
void widen_q6_k(const std::byte* input, std::int64_t count, float* output);

}  // namespace trireme::checkpoint
