#include "runtime/checkpoint/widen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "runtime/checkpoint/tensor_type.h"
#include "tests/runtime/checkpoint/widen_golden.h"
#include "tests/support/checkpoint_writer.h"

namespace trireme::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

constexpr TensorType kAllTypes[] = {TensorType::kF32,  TensorType::kF16,  TensorType::kBF16, TensorType::kQ8_0,
                                    TensorType::kQ4_0, TensorType::kQ4_1, TensorType::kQ5_0, TensorType::kQ5_1,
                                    TensorType::kQ4_K, TensorType::kQ5_K, TensorType::kQ6_K};

int byte_at(Bytes bytes, std::size_t i) {
  return std::to_integer<int>(bytes[i]);
}
int signed_byte_at(Bytes bytes, std::size_t i) {
  return static_cast<std::int8_t>(byte_at(bytes, i));
}
int bit_at(Bytes bytes, std::size_t first_byte, std::size_t bit) {
  return byte_at(bytes, first_byte + bit / 8) >> (bit % 8) & 1;
}

// Half precision by its definition: sign · 2^(exponent - 15) · 1.mantissa, or 2^-14 · 0.mantissa.
float half_at(Bytes bytes, std::size_t i) {
  const int bits = byte_at(bytes, i) | byte_at(bytes, i + 1) << 8;
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return static_cast<float>(mantissa != 0 ? NAN : sign * INFINITY);
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>(sign * magnitude);
}

// Element `e` of a block of 32 whose 4-bit quants begin at `first`.
int four_bits(Bytes block, std::size_t first, int e) {
  return e < 16 ? byte_at(block, first + e) & 15 : byte_at(block, first + e - 16) >> 4;
}

// The 6-bit scale (which = 0) or minimum (which = 4) of sub-block `s` in the 12 bytes at offset 4.
int six_bits(Bytes block, int s, int which) {
  const Bytes packed = block.subspan(4, 12);
  if (s < 4) return byte_at(packed, s + which) & 63;
  const int pair = byte_at(packed, s + 4);
  const int low = which == 0 ? pair & 15 : pair >> 4;
  return low | (byte_at(packed, s - 4 + which) >> 6) << 4;
}

// One element of a super-block of Q4_K or Q5_K, whose 4-bit quants begin at `first` and fifth bits (if any) at 16.
float k_element(Bytes block, int e, std::size_t first, bool has_fifth_bit) {
  const int s = e / 32;
  const int byte = byte_at(block, first + e / 64 * 32 + e % 32);
  int quant = s % 2 == 0 ? byte & 15 : byte >> 4;
  if (has_fifth_bit) quant += 16 * (byte_at(block, 16 + e % 32) >> s & 1);
  const float scale = half_at(block, 0) * static_cast<float>(six_bits(block, s, 0));
  const float minimum = half_at(block, 2) * static_cast<float>(six_bits(block, s, 4));
  const float product = scale * static_cast<float>(quant);
  return product - minimum;
}

float q6_k_element(Bytes block, int e) {
  const int in_half = e % 128;
  const int low_byte = byte_at(block, e / 128 * 64 + in_half % 64);
  const int low = in_half < 64 ? low_byte & 15 : low_byte >> 4;
  const int high = byte_at(block, 128 + e / 128 * 32 + in_half % 32) >> (in_half / 32 * 2) & 3;
  const float scale = half_at(block, 208) * static_cast<float>(signed_byte_at(block, 192 + e / 16));
  return scale * static_cast<float>(16 * high + low - 32);
}

float affine(Bytes block, int quant) {
  const float product = half_at(block, 0) * static_cast<float>(quant);
  return product + half_at(block, 2);
}

// Element `e` of one block, computed from the format's definition for this element alone.
float expected_element(TensorType type, Bytes block, int e) {
  switch (type) {
    case TensorType::kF32: {
      float value;
      std::memcpy(&value, block.data(), sizeof value);
      return value;
    }
    case TensorType::kF16: return half_at(block, 0);
    case TensorType::kBF16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(byte_at(block, 0) | byte_at(block, 1) << 8) << 16);
    case TensorType::kQ8_0: return half_at(block, 0) * static_cast<float>(signed_byte_at(block, 2 + e));
    case TensorType::kQ4_0: return half_at(block, 0) * static_cast<float>(four_bits(block, 2, e) - 8);
    case TensorType::kQ4_1: return affine(block, four_bits(block, 4, e));
    case TensorType::kQ5_0:
      return half_at(block, 0) * static_cast<float>(four_bits(block, 6, e) + 16 * bit_at(block, 2, e) - 16);
    case TensorType::kQ5_1: return affine(block, four_bits(block, 8, e) + 16 * bit_at(block, 4, e));
    case TensorType::kQ4_K: return k_element(block, e, 16, false);
    case TensorType::kQ5_K: return k_element(block, e, 48, true);
    case TensorType::kQ6_K: return q6_k_element(block, e);
    case TensorType::kOther: break;
  }
  return NAN;
}

std::uint32_t crc32(Bytes bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

std::vector<std::byte> from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

class WidenTest : public testing::TestWithParam<TensorType> {};

TEST_P(WidenTest, GivesEachElementsValueByDefinitionAtAnyAlignment) {
  const TensorTypeTraits& traits = traits_of(GetParam());
  const std::int64_t count = 3 * traits.block_size + (traits.block_size == 1 ? 100 : 0);
  const std::size_t num_bytes = static_cast<std::size_t>(count / traits.block_size * traits.block_bytes);
  for (std::size_t misalignment = 0; misalignment < 4; ++misalignment) {
    const auto tensor = test::random_tensor("t", GetParam(), {count}, 1.0, 5 + static_cast<unsigned>(misalignment));
    std::vector<std::byte> stored(misalignment);
    stored.insert(stored.end(), tensor.bytes.begin(), tensor.bytes.end());
    ASSERT_EQ(stored.size(), misalignment + num_bytes);
    std::vector<float> output(static_cast<std::size_t>(count) + 1, -77.0f);
    traits.widen(stored.data() + misalignment, count, output.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const Bytes block = Bytes(stored).subspan(misalignment + i / traits.block_size * traits.block_bytes);
      const float expected = expected_element(GetParam(), block, static_cast<int>(i % traits.block_size));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(output[i]), std::bit_cast<std::uint32_t>(expected)) << i;
    }
    EXPECT_EQ(output.back(), -77.0f) << "wrote past the end";
  }
}

TEST_P(WidenTest, WritesNothingForNoElements) {
  float canary = 3.0f;
  traits_of(GetParam()).widen(nullptr, 0, &canary);
  EXPECT_EQ(canary, 3.0f);
}

INSTANTIATE_TEST_SUITE_P(AllTypes, WidenTest, testing::ValuesIn(kAllTypes),
                         [](const auto& param) { return std::string(to_string(param.param)); });

TEST(WidenF16Test, EqualsTheExactConversionForAllBitPatterns) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    float output;
    widen_f16(reinterpret_cast<const std::byte*>(&half), 1, &output);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(output), std::bit_cast<std::uint32_t>(base::f16_to_f32(half))) << bits;
  }
}

TEST(WidenGoldenTest, AgreesWithThePythonPackageInEveryBit) {
  for (const GoldenBlocks& golden : kGoldenBlocks) {
    SCOPED_TRACE(to_string(golden.type));
    const auto stored = from_hex(golden.hex);
    const TensorTypeTraits& traits = traits_of(golden.type);
    ASSERT_EQ(static_cast<std::int64_t>(stored.size()), golden.count / traits.block_size * traits.block_bytes);
    std::vector<float> output(static_cast<std::size_t>(golden.count));
    traits.widen(stored.data(), golden.count, output.data());
    EXPECT_EQ(output[static_cast<std::size_t>(golden.sample_index)], golden.sample);
    EXPECT_EQ(crc32(std::as_bytes(std::span(output))), golden.crc32);
  }
}

}  // namespace
}  // namespace trireme::checkpoint
