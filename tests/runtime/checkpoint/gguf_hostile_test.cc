// GGUF files that lie about themselves: each is refused with one line that says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/checkpoint/gguf_header.h"
#include "tests/support/checkpoint_writer.h"

namespace trireme::checkpoint {
namespace {

using test::ByteWriter;
using test::GgufWriter;
using testing::StartsWith;

constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;

std::string error_of(std::span<const std::byte> bytes) {
  const auto header = parse_gguf(bytes, "f");
  return header ? "accepted" : header.error().message;
}
std::string error_of(const ByteWriter& file) {
  return error_of(file.bytes());
}
std::string error_of(const GgufWriter& file) {
  return error_of(file.bytes());
}

ByteWriter preamble(std::uint64_t num_tensors, std::uint64_t num_pairs) {
  return ByteWriter().text("GGUF").u32(3).u64(num_tensors).u64(num_pairs);
}

// The error for a file with one value under "k".
std::string value_error(std::uint32_t type, const ByteWriter& value) {
  return error_of(GgufWriter().add_raw("k", type, value.bytes()));
}

// A file with one tensor "t", described by these numbers, and `data_bytes` bytes of data.
ByteWriter file_with_tensor(const std::vector<std::uint64_t>& dimensions, std::uint32_t type, std::uint64_t offset,
                            std::size_t data_bytes) {
  ByteWriter file = preamble(1, 0).string("t").u32(static_cast<std::uint32_t>(dimensions.size()));
  for (const std::uint64_t dimension : dimensions) file.u64(dimension);
  return file.u32(type).u64(offset).pad_to(32).append(std::vector<std::byte>(data_bytes));
}

std::string tensor_error(const std::vector<std::uint64_t>& dimensions, std::uint32_t type, std::uint64_t offset,
                         std::size_t data_bytes) {
  return error_of(file_with_tensor(dimensions, type, offset, data_bytes));
}

TEST(GgufHostileTest, RefusesAnotherMagicVersionOrByteOrder) {
  EXPECT_EQ(error_of(preamble(0, 0)), "accepted");
  EXPECT_EQ(error_of(ByteWriter().text("GGML").u32(3).u64(0).u64(0)), "f: not a GGUF file");
  EXPECT_EQ(error_of(ByteWriter()), "f: not a GGUF file");
  for (const std::uint32_t version : {0u, 1u, 2u, 4u}) {
    EXPECT_EQ(error_of(ByteWriter().text("GGUF").u32(version).u64(0).u64(0)),
              "f: GGUF version " + std::to_string(version) + ", not 3");
  }
  EXPECT_EQ(error_of(ByteWriter().text("GGUF").u32(0x03000000).u64(0).u64(0)), "f: big-endian GGUF is not supported");
}

TEST(GgufHostileTest, RefusesCountsThatTheFileCannotHold) {
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{1} << 32, kHuge, ~std::uint64_t{0}}) {
    EXPECT_EQ(error_of(preamble(count, 0)), "f: more tensors than the file can hold") << count;
    EXPECT_EQ(error_of(preamble(0, count)), "f: more keys than the file can hold") << count;
  }
}

TEST(GgufHostileTest, RefusesStringsLongerThanTheFile) {
  for (const std::uint64_t length : {std::uint64_t{1000}, kHuge, ~std::uint64_t{0}}) {
    const auto padding = std::vector<std::byte>(40);
    EXPECT_EQ(error_of(preamble(0, 1).u64(length).append(padding)), "f: key number 0 ends past the end of the file");
    EXPECT_EQ(error_of(preamble(1, 0).u64(length).append(padding)), "f: tensor number 0 ends past the end of the file");
    EXPECT_EQ(value_error(8, ByteWriter().u64(length)), "f: key 'k': value ends past the end of the file");
    EXPECT_EQ(value_error(9, ByteWriter().u32(8).u64(2).string("x").u64(length)),
              "f: key 'k': value ends past the end of the file");
  }
}

TEST(GgufHostileTest, RefusesArraysLongerThanTheFile) {
  for (const std::uint32_t element_type : {0u, 4u, 6u, 7u, 8u, 10u, 12u}) {
    for (const std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 61, kHuge, ~std::uint64_t{0}}) {
      EXPECT_EQ(value_error(9, ByteWriter().u32(element_type).u64(count)),
                "f: key 'k': array of " + std::to_string(count) + " elements ends past the end of the file");
    }
  }
}

TEST(GgufHostileTest, RefusesNestedArraysAndUnknownTypes) {
  ByteWriter nested;
  for (int depth = 0; depth < 1000; ++depth) nested.u32(9).u64(1);
  EXPECT_EQ(value_error(9, nested), "f: key 'k': arrays of arrays are not supported");
  EXPECT_EQ(value_error(9, ByteWriter().u32(13).u64(1).u64(0)), "f: key 'k': unknown value type 13");
  EXPECT_EQ(value_error(13, ByteWriter().u64(0)), "f: key 'k': unknown value type 13");
  EXPECT_EQ(value_error(0xFFFFFFFF, ByteWriter().u64(0)), "f: key 'k': unknown value type 4294967295");
}

TEST(GgufHostileTest, RefusesValuesAndNamesThatAreMalformed) {
  EXPECT_EQ(value_error(7, ByteWriter().number<std::uint8_t>(2)), "f: key 'k': a bool must be 0 or 1");
  EXPECT_EQ(value_error(9, ByteWriter().u32(7).u64(1).number<std::uint8_t>(2)), "f: key 'k': a bool must be 0 or 1");
  EXPECT_EQ(value_error(8, ByteWriter().string("\xff")), "f: key 'k': string is not UTF-8");
  EXPECT_EQ(error_of(GgufWriter().add_u32("\xC0\x80", 1)), "f: key '\\xc0\\x80': not UTF-8");
  EXPECT_THAT(error_of(GgufWriter().add_u32(std::string(70'000, 'k'), 1)), StartsWith("f: key 'kkkk"));
  EXPECT_EQ(error_of(GgufWriter().add_tensor({"\xff", TensorType::kF32, {0}, {}})),
            "f: tensor '\\xff': name is not UTF-8");
}

TEST(GgufHostileTest, RefusesDuplicateKeysAndTensors) {
  EXPECT_EQ(error_of(GgufWriter().add_u32("k", 1).add_u32("k", 1)), "f: key 'k': appears twice");
  const std::vector<float> long_array(2000);
  EXPECT_EQ(error_of(GgufWriter().add_floats("k", long_array).add_u32("k", 1)), "f: key 'k': appears twice");
  const auto tensor = test::random_tensor("t", TensorType::kF32, {4}, 1.0, 1);
  EXPECT_EQ(error_of(GgufWriter().add_tensor(tensor).add_tensor(tensor)), "f: tensor 't': name appears twice");
}

TEST(GgufHostileTest, RefusesBadAlignments) {
  const auto error_for = [](std::uint32_t type, const ByteWriter& value) {
    return error_of(GgufWriter().add_raw("general.alignment", type, value.bytes()));
  };
  for (const std::uint32_t alignment : {0u, 1u, 3u, 48u, 0x80000000u, 0x20000u}) {
    EXPECT_EQ(error_for(4, ByteWriter().u32(alignment)),
              "f: key 'general.alignment': must be a power of two from 8 to 65536, not " + std::to_string(alignment));
  }
  EXPECT_EQ(error_for(4, ByteWriter().u32(64)), "accepted");
  EXPECT_EQ(error_for(10, ByteWriter().u64(32)), "f: key 'general.alignment': must be of type UINT32");
  EXPECT_EQ(error_for(8, ByteWriter().string("32")), "f: key 'general.alignment': must be of type UINT32");
  EXPECT_EQ(error_for(4, ByteWriter()), "f: key 'general.alignment': must be a power of two from 8 to 65536, not 0");
}

TEST(GgufHostileTest, RefusesImpossibleShapes) {
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(tensor_error({1, 1, 1, 1, 1}, 0, 0, 4), "f: tensor 't': 5 dimensions, at most 4 are allowed");
  EXPECT_EQ(error_of(preamble(1, 0).string("t").u32(0xFFFFFFFF).append(std::vector<std::byte>(64))),
            "f: tensor 't': 4294967295 dimensions, at most 4 are allowed");
  EXPECT_EQ(tensor_error({std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 0, 64),
            "f: tensor 't': shape is too large");
  EXPECT_EQ(tensor_error({kHuge}, 0, 0, 64), "f: tensor 't': shape is too large");
  EXPECT_EQ(tensor_error({most}, 0, 0, 64), "f: tensor 't': shape is too large");
  EXPECT_EQ(tensor_error({most, 2}, 10, 0, 64), "f: tensor 't': shape is too large");
  EXPECT_EQ(tensor_error({most, 0, 2}, 0, 0, 64), "f: tensor 't': shape is too large");
  EXPECT_EQ(tensor_error({1 << 20}, 0, 0, 64), "f: tensor 't': data ends past the end of the file");
}

TEST(GgufHostileTest, RefusesRowsThatAreNoWholeNumberOfBlocks) {
  EXPECT_EQ(tensor_error({32, 2}, 3, 0, 40), "accepted");
  EXPECT_EQ(tensor_error({33, 32}, 3, 0, 4096),
            "f: tensor 't': row of 33 elements is not a multiple of Q4_1's block of 32");
  EXPECT_EQ(tensor_error({32, 8}, 12, 0, 4096),
            "f: tensor 't': row of 32 elements is not a multiple of Q4_K's block of 256");
}

TEST(GgufHostileTest, RefusesTypesThatDoNotExistByName) {
  EXPECT_EQ(tensor_error({32}, 4, 0, 64), "f: tensor 't': unsupported type Q4_2 (removed)");
  EXPECT_EQ(tensor_error({32}, 77, 0, 64), "f: tensor 't': unsupported type number 77");
}

TEST(GgufHostileTest, ATypeThatCannotBeWidenedIsRefusedOnlyWhenItIsNeeded) {
  for (const auto& [number, name] : {std::pair(10u, "Q2_K"), std::pair(26u, "I32")}) {
    const ByteWriter file = file_with_tensor({256}, number, 0, 512);
    const auto header = parse_gguf(file.bytes(), "f");
    ASSERT_TRUE(header);
    const auto readable = Checkpoint::check_readable(header->tensors[0]);
    ASSERT_FALSE(readable);
    EXPECT_EQ(readable.error().message, std::string("f: tensor 't': unsupported type ") + name);
  }
}

TEST(GgufHostileTest, RefusesOffsetsOutsideTheDataUnalignedOrOverlapping) {
  EXPECT_EQ(tensor_error({8}, 0, 32, 64), "accepted");
  EXPECT_EQ(tensor_error({8}, 0, 4, 64), "f: tensor 't': offset is not aligned");
  EXPECT_EQ(tensor_error({8}, 0, 64, 64), "f: tensor 't': data ends past the end of the file");
  EXPECT_EQ(tensor_error({8}, 0, kHuge, 64), "f: tensor 't': data ends past the end of the file");
  EXPECT_EQ(tensor_error({8}, 0, ~std::uint64_t{31}, 64), "f: tensor 't': data ends past the end of the file");
  ByteWriter file = preamble(2, 0).string("a").u32(1).u64(16).u32(0).u64(0);
  file.string("b").u32(1).u64(8).u32(0).u64(32).pad_to(32).append(std::vector<std::byte>(64));
  EXPECT_EQ(error_of(file), "f: tensor 'b': data overlaps that of 'a'");
}

TEST(GgufHostileTest, RefusesEveryShorterFile) {
  GgufWriter writer;
  writer.add_u32("u", 1).add_strings("s", std::vector<std::string>{"x", "yy"}).add_string("z", "zzz");
  writer.add_tensor(test::random_tensor("a", TensorType::kQ8_0, {2, 32}, 1.0, 1));
  writer.add_tensor(test::random_tensor("b", TensorType::kF32, {8}, 1.0, 2));
  const auto whole = writer.bytes();
  ASSERT_EQ(error_of(whole), "accepted");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT(error_of(cut), StartsWith("f: ")) << size;
  }
}

// A flipped byte may give another sound file; it must not give a crash or a tensor outside the file.
TEST(GgufHostileTest, KeepsTensorsInsideTheFileWhateverByteIsChanged) {
  GgufWriter writer;
  writer.add_u32("general.alignment", 32).add_floats("s", std::vector<float>{1, 2}).add_string("z", "zzz");
  writer.add_tensor(test::random_tensor("a", TensorType::kQ8_0, {2, 32}, 1.0, 1));
  const auto whole = writer.bytes();
  for (std::size_t position = 0; position < whole.size(); ++position) {
    for (const unsigned value : {0x00u, 0x01u, 0x7Fu, 0x80u, 0xFFu}) {
      auto changed = whole;
      changed[position] = static_cast<std::byte>(value);
      const auto header = parse_gguf(changed, "f");
      if (!header) continue;
      for (const TensorInfo& tensor : header->tensors) {
        ASSERT_LE(tensor.data + tensor.bytes, changed.data() + changed.size()) << position;
        std::vector<float> row(static_cast<std::size_t>(tensor.row_size()));
        if (tensor.num_rows() > 0) Checkpoint::read_rows(tensor, 0, 1, row.data());
      }
    }
  }
}

}  // namespace
}  // namespace trireme::checkpoint
