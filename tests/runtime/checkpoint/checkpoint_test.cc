#include "runtime/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/checkpoint/gguf_file.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::string error_of(const fs::path& path) {
  const auto checkpoint = Checkpoint::open(path);
  return checkpoint ? "accepted" : checkpoint.error().message;
}

test::GgufWriter small_gguf() {
  test::GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  writer.add_tensor(test::random_tensor("z", TensorType::kQ8_0, {4, 32}, 1.0, 1));
  writer.add_tensor(test::random_tensor("a", TensorType::kF32, {8}, 1.0, 2));
  return writer;
}

TEST(CheckpointTest, OpensAGgufFileByItsNameOrItsFolder) {
  const test::TemporaryFolder folder;
  small_gguf().write(folder / "m.gguf");
  folder.write("README.md", "text");
  for (const fs::path& path : {folder / "m.gguf", folder.path()}) {
    const auto checkpoint = Checkpoint::open(path);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_EQ((*checkpoint)->format(), Format::kGguf);
    EXPECT_NE((*checkpoint)->gguf(), nullptr);
    EXPECT_EQ((*checkpoint)->path(), folder / "m.gguf");
    EXPECT_EQ((*checkpoint)->metadata()["general.architecture"], "llama");
    EXPECT_EQ((*checkpoint)->tensors()[0].name, "a") << "sorted by name";
    EXPECT_EQ((*checkpoint)->find("z")->type, TensorType::kQ8_0);
    EXPECT_EQ((*checkpoint)->find("b"), nullptr);
  }
}

TEST(CheckpointTest, OpensAGgufFileBesideAConfigWithoutSafetensors) {
  const test::TemporaryFolder folder;
  small_gguf().write(folder / "m.gguf");
  folder.write("config.json", "{}");
  EXPECT_EQ(error_of(folder.path()), "accepted");
}

TEST(CheckpointTest, SaysWhatIsMissingOrAmbiguous) {
  const test::TemporaryFolder folder;
  const std::string name = folder.path().string();
  EXPECT_EQ(error_of(folder / "none"), name + "/none: no such file or directory");
  EXPECT_EQ(error_of(name), name + ": holds neither model.safetensors, nor its index, nor a GGUF file");
  small_gguf().write(folder / "a.gguf");
  small_gguf().write(folder / "b.gguf");
  EXPECT_EQ(error_of(name), name + ": holds 2 GGUF files: name one of them");
  EXPECT_EQ(error_of(folder.write("text", "hello, world")), name + "/text: not a GGUF file");
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(error_of(folder / "loop"), name + "/loop: Too many levels of symbolic links");
}

TEST(CheckpointTest, RefusesAPartOfASplitModel) {
  const test::TemporaryFolder folder;
  small_gguf().add_u32("split.count", 2).write(folder / "m.gguf");
  EXPECT_EQ(error_of(folder / "m.gguf"),
            (folder / "m.gguf").string() + ": key 'split.count': a model in several GGUF files is not supported");
}

TEST(CheckpointTest, ReadsTheRowsAskedFor) {
  const test::TemporaryFolder folder;
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0f);
  const std::vector tensors = {test::make_tensor("vector", TensorType::kF16, {24}, values),
                               test::make_tensor("matrix", TensorType::kBF16, {8, 3}, values),
                               test::make_tensor("cube", TensorType::kF32, {2, 4, 3}, values),
                               test::make_tensor("scalar", TensorType::kF32, {}, std::vector<float>{7.0f})};
  test::write_hugging_face(folder.path(), nlohmann::json::object(), tensors);
  const auto checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto read = [&](const char* name, std::int64_t begin, std::int64_t end) {
    const TensorInfo& tensor = *(*checkpoint)->find(name);
    std::vector<float> output(static_cast<std::size_t>((end - begin) * tensor.row_size()));
    Checkpoint::read_rows(tensor, begin, end, output.data());
    return output;
  };
  EXPECT_EQ(read("vector", 0, 1), values);
  EXPECT_THAT(read("matrix", 2, 4), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(read("cube", 5, 6), ElementsAre(15, 16, 17));
  EXPECT_THAT(read("scalar", 0, 1), ElementsAre(7));
  EXPECT_THAT(read("matrix", 8, 8), ElementsAre());
  EXPECT_THROW(read("matrix", 7, 9), base::CheckFailure);
}

TEST(CheckpointTest, ReadsRowsOfBlocksAsPartsOfTheWhole) {
  const test::TemporaryFolder folder;
  test::GgufWriter writer;
  writer.add_tensor(test::random_tensor("t", TensorType::kQ4_K, {5, 512}, 1.0, 3));
  writer.write(folder / "m.gguf");
  const auto checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const TensorInfo& tensor = (*checkpoint)->tensors()[0];
  std::vector<float> whole(5 * 512), part(2 * 512);
  Checkpoint::read_rows(tensor, 0, 5, whole.data());
  Checkpoint::read_rows(tensor, 2, 4, part.data());
  EXPECT_EQ(part, std::vector(whole.begin() + 2 * 512, whole.begin() + 4 * 512));
}

// Block types are made of random quants: their values spread as asked, so that models of them behave.
TEST(CheckpointTest, SpreadsRandomTensorsAsTheWriterPromises) {
  for (const TensorType type :
       {TensorType::kF32, TensorType::kF16, TensorType::kBF16, TensorType::kQ8_0, TensorType::kQ4_0, TensorType::kQ4_1,
        TensorType::kQ5_0, TensorType::kQ5_1, TensorType::kQ4_K, TensorType::kQ5_K, TensorType::kQ6_K}) {
    const auto stored = test::random_tensor("t", type, {64, 256}, 0.25, 9);
    const TensorInfo tensor{"t", type, stored.shape, stored.bytes.data(), stored.bytes.size(), ""};
    std::vector<float> values(64 * 256);
    Checkpoint::read_rows(tensor, 0, 64, values.data());
    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(values.size())), 0.25, 0.02) << to_string(type);
  }
}

TEST(CheckpointTest, OpensTheModelsOfTheTestData) {
  for (const char* name : {"llama", "llama-tied-mha", "llama3-rope", "llama-headdim", "gemma3"}) {
    const auto checkpoint = Checkpoint::open(fs::path(TRIREME_TEST_DATA) / "models" / name);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_TRUE((*checkpoint)->metadata().contains("model_type"));
    const TensorInfo* embedding = (*checkpoint)->find("model.embed_tokens.weight");
    ASSERT_NE(embedding, nullptr);
    EXPECT_EQ(embedding->num_rows(), (*checkpoint)->metadata()["vocab_size"]);
  }
}

}  // namespace
}  // namespace trireme::checkpoint
