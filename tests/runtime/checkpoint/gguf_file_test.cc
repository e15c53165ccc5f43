#include "runtime/checkpoint/gguf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

using test::ByteWriter;
using test::GgufWriter;
using testing::ElementsAre;
using testing::Optional;

std::unique_ptr<GgufFile> open_file(const test::TemporaryFolder& folder, const GgufWriter& writer) {
  writer.write(folder / "m.gguf");
  auto file = GgufFile::open(folder / "m.gguf");
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file ? std::move(*file) : nullptr;
}

TEST(GgufFileTest, GivesScalarsAndShortArraysAsJson) {
  const test::TemporaryFolder folder;
  GgufWriter writer;
  writer.add_u32("llama.block_count", 30).add_f32("eps", 0.5f).add_bool("flag", true).add_string("name", "π");
  writer.add_ints("ints", std::vector<std::int32_t>{1, -2}).add_strings("empty", {});
  writer.add_raw("u8", 0, ByteWriter().number<std::uint8_t>(200).bytes());
  writer.add_raw("i64", 11, ByteWriter().number<std::int64_t>(-5'000'000'000).bytes());
  writer.add_raw("u64", 10, ByteWriter().u64(~std::uint64_t{0}).bytes());
  writer.add_raw("f64", 12, ByteWriter().number(0.1).bytes());
  const auto file = open_file(folder, writer);
  EXPECT_EQ(file->metadata(), nlohmann::json::parse(R"({"llama.block_count": 30, "eps": 0.5, "flag": true, "name": "π",
    "ints": [1, -2], "empty": [], "u8": 200, "i64": -5000000000, "u64": 18446744073709551615, "f64": 0.1})"));
}

TEST(GgufFileTest, KeepsLongArraysOutOfTheMetadata) {
  const test::TemporaryFolder folder;
  const std::vector<std::int32_t> short_array(1024, 7), long_array(1025, 8);
  const auto file = open_file(folder, GgufWriter().add_ints("short", short_array).add_ints("long", long_array));
  EXPECT_TRUE(file->metadata().contains("short"));
  EXPECT_FALSE(file->metadata().contains("long"));
  EXPECT_TRUE(file->has("short"));
  EXPECT_TRUE(file->has("long"));
  EXPECT_FALSE(file->has("other"));
  EXPECT_THAT(file->int_array("long"), Optional(long_array));
  EXPECT_THAT(file->int_array("short"), Optional(short_array));
}

TEST(GgufFileTest, GivesArraysOfTheirOwnTypeOnly) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> tokens = {"a", "", "\xC3\xA9", "\xff"};
  const auto file = open_file(folder, GgufWriter()
                                          .add_strings("tokens", tokens)
                                          .add_floats("scores", std::vector<float>{1.5f, -2.0f})
                                          .add_u32("scalar", 3));
  EXPECT_THAT(file->string_array("tokens"), Optional(ElementsAre("a", "", "\xC3\xA9", "\xff")));
  EXPECT_FALSE(file->metadata().contains("tokens")) << "not UTF-8";
  EXPECT_THAT(file->float_array("scores"), Optional(ElementsAre(1.5f, -2.0f)));
  EXPECT_EQ(file->float_array("tokens"), std::nullopt);
  EXPECT_EQ(file->int_array("tokens"), std::nullopt);
  EXPECT_EQ(file->string_array("scores"), std::nullopt);
  EXPECT_EQ(file->int_array("scores"), std::nullopt);
  EXPECT_EQ(file->int_array("scalar"), std::nullopt);
  EXPECT_EQ(file->int_array("missing"), std::nullopt);
}

TEST(GgufFileTest, NarrowsIntegersThatFit) {
  const test::TemporaryFolder folder;
  const auto array = [](std::uint32_t type, auto value) { return ByteWriter().u32(type).u64(1).number(value).bytes(); };
  GgufWriter writer;
  writer.add_raw("u8", 9, array(0, std::uint8_t{255})).add_raw("i8", 9, array(1, std::int8_t{-1}));
  writer.add_raw("u16", 9, array(2, std::uint16_t{65535})).add_raw("i16", 9, array(3, std::int16_t{-2}));
  writer.add_raw("u32", 9, array(4, std::uint32_t{0x7FFFFFFF})).add_raw("u32_large", 9, array(4, 0x80000000u));
  writer.add_raw("u64", 9, array(10, std::uint64_t{5})).add_raw("i64", 9, array(11, std::int64_t{-5}));
  writer.add_raw("i64_large", 9, array(11, std::int64_t{-3'000'000'000}));
  const auto file = open_file(folder, writer);
  EXPECT_THAT(file->int_array("u8"), Optional(ElementsAre(255)));
  EXPECT_THAT(file->int_array("i8"), Optional(ElementsAre(-1)));
  EXPECT_THAT(file->int_array("u16"), Optional(ElementsAre(65535)));
  EXPECT_THAT(file->int_array("i16"), Optional(ElementsAre(-2)));
  EXPECT_THAT(file->int_array("u32"), Optional(ElementsAre(0x7FFFFFFF)));
  EXPECT_THAT(file->int_array("u64"), Optional(ElementsAre(5)));
  EXPECT_THAT(file->int_array("i64"), Optional(ElementsAre(-5)));
  EXPECT_EQ(file->int_array("u32_large"), std::nullopt);
  EXPECT_EQ(file->int_array("i64_large"), std::nullopt);
}

TEST(GgufFileTest, GivesTensorsOutermostDimensionFirst) {
  for (const std::uint32_t alignment : {8u, 32u, 4096u}) {
    const test::TemporaryFolder folder;
    const std::vector tensors = {test::random_tensor("z", TensorType::kQ4_1, {3, 64}, 1.0, 1),
                                 test::random_tensor("a", TensorType::kF32, {5}, 1.0, 2),
                                 test::random_tensor("k", TensorType::kQ6_K, {1, 2, 256}, 1.0, 3)};
    GgufWriter writer(alignment);
    for (const auto& tensor : tensors) writer.add_tensor(tensor);
    const auto file = open_file(folder, writer);
    ASSERT_EQ(file->tensors().size(), tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorInfo& read = file->tensors()[i];
      EXPECT_EQ(read.name, tensors[i].name);
      EXPECT_EQ(read.type, tensors[i].type);
      EXPECT_EQ(read.shape, tensors[i].shape);
      EXPECT_EQ(std::vector(read.data, read.data + read.bytes), tensors[i].bytes);
    }
  }
}

TEST(GgufFileTest, AcceptsScalarsAndTensorsWithoutElements) {
  const test::TemporaryFolder folder;
  GgufWriter writer;
  writer.add_tensor(test::random_tensor("scalar", TensorType::kF32, {}, 1.0, 1));
  writer.add_tensor({"none", TensorType::kF16, {0, 4}, {}});
  writer.add_tensor({"no_blocks", TensorType::kQ4_K, {4, 0}, {}});
  const auto file = open_file(folder, writer);
  EXPECT_EQ(file->tensors()[0].num_rows() * file->tensors()[0].row_size(), 1);
  EXPECT_EQ(file->tensors()[1].num_rows(), 0);
  EXPECT_EQ(file->tensors()[2].row_size(), 0);
}

}  // namespace
}  // namespace trireme::checkpoint
