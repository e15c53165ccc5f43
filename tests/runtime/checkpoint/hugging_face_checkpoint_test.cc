#include "runtime/checkpoint/hugging_face_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

constexpr char kIndex[] = "model.safetensors.index.json";
constexpr char kFirstShard[] = "model-00001-of-00002.safetensors";
constexpr char kSecondShard[] = "model-00002-of-00002.safetensors";

std::vector<test::StoredTensor> some_tensors() {
  return {test::random_tensor("b", TensorType::kF32, {2, 3}, 1.0, 1),
          test::random_tensor("a", TensorType::kF16, {4}, 1.0, 2),
          test::random_tensor("c", TensorType::kBF16, {1, 2}, 1.0, 3)};
}

// A folder with a sound model in two shards: "b" and "c" in the first, "a" in the second.
class ShardedTest : public testing::Test {
 protected:
  void SetUp() override { test::write_hugging_face(folder_.path(), {{"model_type", "llama"}}, some_tensors(), 2); }

  std::string error() const {
    const auto checkpoint = Checkpoint::open(folder_.path());
    return checkpoint ? "accepted" : checkpoint.error().message;
  }
  void write_weight_map(const nlohmann::json& weight_map) const {
    folder_.write(kIndex, nlohmann::json{{"weight_map", weight_map}}.dump());
  }
  // A folder's file in messages.
  std::string file(const char* name) const { return (folder_ / name).string(); }

  const test::TemporaryFolder folder_;
};

TEST(HuggingFaceCheckpointTest, ReadsOneFile) {
  const test::TemporaryFolder folder;
  test::write_hugging_face(folder.path(), {{"model_type", "llama"}, {"rope_theta", 1e4}}, some_tensors());
  const auto checkpoint = Checkpoint::open(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ((*checkpoint)->format(), Format::kHuggingFace);
  EXPECT_EQ((*checkpoint)->gguf(), nullptr);
  EXPECT_EQ((*checkpoint)->metadata()["rope_theta"], 1e4);
  ASSERT_EQ((*checkpoint)->tensors().size(), 3u);
  EXPECT_EQ((*checkpoint)->tensors()[0].name, "a");
  EXPECT_EQ((*checkpoint)->find("b")->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ((*checkpoint)->find("d"), nullptr);
}

TEST_F(ShardedTest, ReadsTheTensorsOfAllShards) {
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  for (const auto& source : some_tensors()) {
    const TensorInfo* tensor = (*checkpoint)->find(source.name);
    ASSERT_NE(tensor, nullptr) << source.name;
    EXPECT_EQ(std::vector(tensor->data, tensor->data + tensor->bytes), source.bytes);
    EXPECT_THAT(tensor->file, EndsWith(source.name == "a" ? kSecondShard : kFirstShard));
  }
}

TEST_F(ShardedTest, AcceptsShardsThatAreLinksToFilesElsewhere) {
  const test::TemporaryFolder cache;
  fs::rename(folder_ / kFirstShard, cache / "blob");
  fs::create_symlink(cache / "blob", folder_ / kFirstShard);
  EXPECT_EQ(error(), "accepted");
}

TEST_F(ShardedTest, RefusesAMissingShard) {
  fs::remove(folder_ / kSecondShard);
  EXPECT_EQ(error(), file(kSecondShard) + ": No such file or directory");
}

TEST_F(ShardedTest, RefusesAShardThatLinksToItself) {
  fs::remove(folder_ / kSecondShard);
  fs::create_symlink(kSecondShard, folder_ / kSecondShard);
  EXPECT_EQ(error(), file(kSecondShard) + ": Too many levels of symbolic links");
}

TEST_F(ShardedTest, RefusesShardsOutsideTheFolderByName) {
  const test::TemporaryFolder outside;
  fs::copy_file(folder_ / kSecondShard, outside / kSecondShard);
  const std::string absolute = (outside / kSecondShard).string();
  for (const std::string& name :
       {"../" + outside.path().filename().string() + "/" + kSecondShard, absolute, std::string("./") + kSecondShard,
        std::string(".."), std::string("."), std::string(), std::string(kSecondShard) + std::string("\0x", 2)}) {
    write_weight_map({{"b", kFirstShard}, {"c", kFirstShard}, {"a", name}});
    EXPECT_THAT(error(), testing::StartsWith(file(kIndex) + ": tensor 'a': shard '")) << name;
    EXPECT_THAT(error(), EndsWith("' is not a file name in this folder")) << name;
  }
}

TEST_F(ShardedTest, RefusesATensorInTheWrongShard) {
  write_weight_map({{"b", kFirstShard}, {"c", kSecondShard}, {"a", kSecondShard}});
  EXPECT_EQ(error(),
            file(kFirstShard) + ": tensor 'c': a tensor that " + kIndex + " expects in '" + kSecondShard + "'");
}

TEST_F(ShardedTest, RefusesTensorsThatOnlyTheIndexOrOnlyAShardHas) {
  write_weight_map({{"b", kFirstShard}, {"a", kSecondShard}});
  EXPECT_EQ(error(), file(kFirstShard) + ": tensor 'c': a tensor that " + kIndex + " does not list");
  write_weight_map({{"b", kFirstShard}, {"c", kFirstShard}, {"a", kSecondShard}, {"d", kSecondShard}});
  EXPECT_EQ(error(), file(kSecondShard) + ": tensor 'd': missing, though " + kIndex + " lists it here");
}

TEST_F(ShardedTest, RefusesATensorInTwoShards) {
  fs::copy_file(folder_ / kFirstShard, folder_ / "copy");
  write_weight_map({{"b", kFirstShard}, {"c", "copy"}, {"a", kSecondShard}});
  EXPECT_THAT(error(), HasSubstr("expects in"));
}

TEST_F(ShardedTest, RefusesAnIndexOfAnotherForm) {
  const std::string needs = file(kIndex) + ": needs an object with an object 'weight_map'";
  for (const char* text : {"[]", "{}", R"({"weight_map": []})"}) {
    folder_.write(kIndex, text);
    EXPECT_EQ(error(), needs) << text;
  }
  write_weight_map({{"a", 1}});
  EXPECT_EQ(error(), file(kIndex) + ": tensor 'a': shard must be a string");
  folder_.write(kIndex, R"({"weight_map": {"a": "x", "a": "y"}})");
  EXPECT_EQ(error(), file(kIndex) + ": duplicate key 'a'");
  folder_.write(kIndex, R"({"weight_map": )" + std::string(100'000, '{'));
  EXPECT_THAT(error(), HasSubstr("not valid JSON"));
  folder_.write(kIndex, std::string(100'000, '['));
  EXPECT_EQ(error(), file(kIndex) + ": JSON is nested too deeply");
}

TEST_F(ShardedTest, RefusesAShardCutShort) {
  fs::resize_file(folder_ / kSecondShard, fs::file_size(folder_ / kSecondShard) - 1);
  EXPECT_EQ(error(), file(kSecondShard) + ": tensor 'a': data ends past the end of the file");
  fs::resize_file(folder_ / kSecondShard, 0);
  EXPECT_EQ(error(), file(kSecondShard) + ": too short for a safetensors file");
}

TEST_F(ShardedTest, RefusesABadConfig) {
  folder_.write("config.json", "[1]");
  EXPECT_EQ(error(), file("config.json") + ": not a JSON object");
  folder_.write("config.json", std::string(100'000, '['));
  EXPECT_EQ(error(), file("config.json") + ": JSON is nested too deeply");
  folder_.write("config.json", R"({"a": 1, "a": 2})");
  EXPECT_EQ(error(), file("config.json") + ": duplicate key 'a'");
  fs::remove(folder_ / "config.json");
  EXPECT_EQ(error(), file("config.json") + ": No such file or directory");
}

}  // namespace
}  // namespace trireme::checkpoint
