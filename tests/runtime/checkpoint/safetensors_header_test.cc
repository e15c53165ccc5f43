#include "runtime/checkpoint/safetensors_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/support/checkpoint_writer.h"

namespace trireme::checkpoint {
namespace {

using test::ByteWriter;
using test::random_tensor;
using test::safetensors_file;

std::string error_of(std::span<const std::byte> file) {
  const auto header = parse_safetensors(file, "f");
  return header ? "accepted" : header.error().message;
}

// The error for a header over `data_bytes` bytes of data.
std::string error_of(std::string_view header, std::size_t data_bytes = 0) {
  return error_of(safetensors_file(header, std::vector<std::byte>(data_bytes)));
}

// One entry of F32 type.
std::string entry(const std::string& name, const std::string& shape, const std::string& offsets) {
  return '"' + name + R"(": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}";
}
std::string header_of(std::initializer_list<std::string> entries) {
  std::string header;
  for (const std::string& entry : entries) header += (header.empty() ? '{' : ',') + entry;
  return header + '}';
}
std::string one_tensor(const std::string& shape, const std::string& offsets) {
  return header_of({entry("t", shape, offsets)});
}

TEST(SafetensorsHeaderTest, ListsTheTensorsByNameWithTheirBytes) {
  const std::vector tensors = {random_tensor("z", TensorType::kBF16, {3, 5}, 1.0, 1),
                               random_tensor("a", TensorType::kF32, {4}, 1.0, 2),
                               random_tensor("m", TensorType::kF16, {2, 1, 3}, 1.0, 3)};
  const auto file = safetensors_file(tensors);
  const auto header = parse_safetensors(file, "f");
  ASSERT_TRUE(header) << header.error().message;
  ASSERT_EQ(header->tensors.size(), 3u);
  for (const auto& [index, source] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 0)}) {
    const TensorInfo& tensor = header->tensors[index];
    EXPECT_EQ(tensor.name, tensors[source].name);
    EXPECT_EQ(tensor.type, tensors[source].type);
    EXPECT_EQ(tensor.shape, tensors[source].shape);
    EXPECT_EQ(tensor.file, "f");
    EXPECT_EQ(std::vector(tensor.data, tensor.data + tensor.bytes), tensors[source].bytes);
  }
}

TEST(SafetensorsHeaderTest, AcceptsMetadataSpacesAndAnEmptyObject) {
  EXPECT_EQ(error_of(R"({"__metadata__": {"format": "pt"}}   )"), "accepted");
  EXPECT_EQ(error_of("{}"), "accepted");
}

TEST(SafetensorsHeaderTest, AcceptsScalarsAndTensorsWithoutElements) {
  EXPECT_EQ(error_of(header_of({entry("scalar", "[]", "[0, 4]"), entry("none", "[0, 3]", "[4, 4]")}), 4), "accepted");
  EXPECT_EQ(error_of(one_tensor("[7, 0, 4611686018427387904]", "[0, 0]")), "f: tensor 't': shape is too large");
}

TEST(SafetensorsHeaderTest, RefusesBadLengthsBeforeReadingThem) {
  const auto with_length = [](std::uint64_t length) { return ByteWriter().u64(length).text("{}").bytes(); };
  EXPECT_EQ(error_of(with_length(2)), "accepted");
  EXPECT_EQ(error_of(with_length(0)), "f: header is not a JSON object");
  EXPECT_EQ(error_of(with_length(3)), "f: header ends past the file");
  EXPECT_EQ(error_of(with_length(100'000'001)), "f: header length is above 100 MB");
  EXPECT_EQ(error_of(with_length(std::uint64_t{1} << 63)), "f: header length is above 100 MB");
  EXPECT_EQ(error_of(with_length(~std::uint64_t{0})), "f: header length is above 100 MB");
  EXPECT_EQ(error_of(std::span<const std::byte>()), "f: too short for a safetensors file");
}

TEST(SafetensorsHeaderTest, RefusesHeadersThatAreNoJsonObject) {
  EXPECT_EQ(error_of("[]"), "f: header is not a JSON object");
  EXPECT_EQ(error_of("\xEF\xBB\xBF{}"), "f: header is not a JSON object");
  EXPECT_EQ(error_of(std::string_view("{}\0{}", 5)), "f: NUL byte in the header");
  EXPECT_EQ(error_of("{\"t\xff\": {}}"), "f: header is not valid JSON at byte 4");
  EXPECT_EQ(error_of("{} {}"), "f: header is not valid JSON at byte 4");
  EXPECT_EQ(error_of("{\"t\": "), "f: header is not valid JSON at byte 7");
}

TEST(SafetensorsHeaderTest, RefusesEntriesOfAnotherForm) {
  EXPECT_EQ(error_of(R"({"t": [1]})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": 1})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {}})"), "f: tensor 't': needs dtype, shape and data_offsets");
  EXPECT_EQ(error_of(R"({"t": {"dtype": ["F32"]}})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {"dtype": 1}})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {"shape": "x"}})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {"shape": {}}})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {"shape": [[1]]}})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {"shape": [1.5]}})"), "f: tensor 't': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"t": {"shape": [1], "shape": [1]}})"), "f: tensor 't': duplicate key 'shape'");
  EXPECT_EQ(error_of(R"({"t": {"strides": [1]}})"), "f: tensor 't': unknown key 'strides'");
  EXPECT_EQ(error_of(R"({"__metadata__": {"a": {}}})"), "f: header, key '__metadata__': unexpected JSON value");
  EXPECT_EQ(error_of(R"({"__metadata__": {}, "__metadata__": {}})"), "f: header, key '__metadata__': duplicate key");
  EXPECT_EQ(error_of("{\"t\": {\"shape\": " + std::string(100'000, '[')), "f: tensor 't': unexpected JSON value");
}

TEST(SafetensorsHeaderTest, RefusesDuplicateTensors) {
  const std::string header = header_of({entry("t", "[1]", "[0, 4]"), entry("t", "[1]", "[4, 8]")});
  EXPECT_EQ(error_of(header, 8), "f: tensor 't': name appears twice");
}

TEST(SafetensorsHeaderTest, RefusesOffsetsThatDoNotCoverTheData) {
  EXPECT_EQ(error_of(one_tensor("[1]", "[0, 4]"), 4), "accepted");
  EXPECT_EQ(error_of(one_tensor("[1]", "[4, 0]"), 4), "f: tensor 't': data_offsets are reversed");
  EXPECT_EQ(error_of(one_tensor("[1]", "[-4, 0]"), 4), "f: tensor 't': negative number");
  EXPECT_EQ(error_of(one_tensor("[1]", "[0, 4]"), 3), "f: tensor 't': data ends past the end of the file");
  EXPECT_EQ(error_of(one_tensor("[1]", "[0, 4]"), 5), "f: bytes after the last tensor's data");
  EXPECT_EQ(error_of(one_tensor("[1]", "[4, 8]"), 8), "f: tensor 't': gap before the data");
  EXPECT_EQ(error_of(one_tensor("[1]", "[0]"), 4), "f: tensor 't': data_offsets must be two numbers");
  EXPECT_EQ(error_of(one_tensor("[1]", "[0, 4, 8]"), 4), "f: tensor 't': data_offsets must be two numbers");
  EXPECT_EQ(error_of(one_tensor("[1]", "[0, 18446744073709551615]"), 4), "f: tensor 't': number too large");
  EXPECT_EQ(error_of(header_of({entry("a", "[2]", "[0, 8]"), entry("b", "[1]", "[4, 8]")}), 8),
            "f: tensor 'b': data overlaps another tensor's");
}

TEST(SafetensorsHeaderTest, RefusesShapesThatOverflowOrDisagreeWithTheBytes) {
  EXPECT_EQ(error_of(one_tensor("[4294967296, 4294967296]", "[0, 4]"), 4), "f: tensor 't': shape is too large");
  EXPECT_EQ(error_of(one_tensor("[4611686018427387904]", "[0, 4]"), 4), "f: tensor 't': shape is too large");
  EXPECT_EQ(error_of(one_tensor("[-1]", "[0, 4]"), 4), "f: tensor 't': negative number");
  EXPECT_EQ(error_of(one_tensor("[2]", "[0, 4]"), 4),
            "f: tensor 't': data_offsets span 4 bytes, shape and dtype 'F32' need 8");
  EXPECT_EQ(error_of(one_tensor("[1,1,1,1,1,1,1,1,1]", "[0, 4]"), 4),
            "f: tensor 't': more than 8 dimensions or offsets");
}

TEST(SafetensorsHeaderTest, ADtypeThatCannotBeWidenedIsRefusedOnlyWhenItIsNeeded) {
  const std::string header = R"({"t": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}})";
  const auto parsed = parse_safetensors(safetensors_file(header, std::vector<std::byte>(4)), "f");
  ASSERT_TRUE(parsed);
  const auto readable = Checkpoint::check_readable(parsed->tensors[0]);
  ASSERT_FALSE(readable);
  EXPECT_EQ(readable.error().message, "f: tensor 't': unsupported type F8_E4M3");
  EXPECT_EQ(readable.error().code, base::ErrorCode::kUnsupported);
}

TEST(SafetensorsHeaderTest, RefusesUnknownDtypesByName) {
  for (const std::string dtype : {"I4", "XYZ", "Q8_0", "f32", ""}) {
    const std::string header = R"({"t": {"dtype": ")" + dtype + R"(", "shape": [1], "data_offsets": [0, 4]}})";
    const auto file = safetensors_file(header, std::vector<std::byte>(4));
    const auto parsed = parse_safetensors(file, "f");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message, "f: tensor 't': unsupported dtype '" + dtype + "'");
    EXPECT_EQ(parsed.error().code, base::ErrorCode::kUnsupported);
  }
}

TEST(SafetensorsHeaderTest, RefusesEveryShorterFile) {
  const std::vector tensors = {random_tensor("a", TensorType::kF32, {4}, 1.0, 2),
                               random_tensor("b", TensorType::kF16, {2, 3}, 1.0, 3)};
  const auto file = safetensors_file(tensors);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(error_of(cut), "accepted") << size;
  }
}

TEST(SafetensorsHeaderTest, KeepsTheMessageOnOneLine) {
  const std::string name = "a\\nb" + std::string(5000, 'x');
  const std::string message = error_of(header_of({entry(name, "[1]", "[4, 0]")}), 4);
  EXPECT_THAT(message, testing::HasSubstr("'a\\x0abxx"));
  EXPECT_LT(message.size(), 200u);
}

}  // namespace
}  // namespace trireme::checkpoint
