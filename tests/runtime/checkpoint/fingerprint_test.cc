#include "runtime/checkpoint/fingerprint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

std::uint64_t fingerprint_of(const std::filesystem::path& path) {
  const auto checkpoint = Checkpoint::open(path);
  EXPECT_TRUE(checkpoint) << (checkpoint ? "" : checkpoint.error().message);
  return checkpoint ? (*checkpoint)->fingerprint() : 0;
}

std::vector<test::StoredTensor> some_tensors() {
  return {test::random_tensor("large", TensorType::kF32, {40, 64}, 1.0, 1),
          test::random_tensor("small", TensorType::kF32, {3}, 1.0, 2)};
}

std::uint64_t fingerprint_of(const std::vector<test::StoredTensor>& tensors, int num_shards = 1,
                             const nlohmann::json& config = {{"model_type", "llama"}}) {
  const test::TemporaryFolder folder;
  test::write_hugging_face(folder.path(), config, tensors, num_shards);
  return fingerprint_of(folder.path());
}

TEST(FingerprintTest, IsEqualForEqualModelsWhereverTheyLie) {
  EXPECT_EQ(fingerprint_of(some_tensors()), fingerprint_of(some_tensors()));
  EXPECT_EQ(fingerprint_of(some_tensors(), 2), fingerprint_of(some_tensors(), 2));
}

TEST(FingerprintTest, ChangesWithASampledByte) {
  const std::uint64_t before = fingerprint_of(some_tensors());
  const std::size_t large_bytes = some_tensors()[0].bytes.size();
  const std::size_t stride = (large_bytes - kSampledRunBytes) / (kSampledRuns - 1);
  std::set<std::uint64_t> seen = {before};
  for (std::size_t run = 0; run < kSampledRuns; ++run) {
    auto tensors = some_tensors();
    tensors[0].bytes[run * stride + 5] ^= std::byte{1};
    EXPECT_TRUE(seen.insert(fingerprint_of(tensors)).second) << run;
  }
  for (std::size_t i = 0; i < some_tensors()[1].bytes.size(); ++i) {
    auto tensors = some_tensors();
    tensors[1].bytes[i] ^= std::byte{1};
    EXPECT_TRUE(seen.insert(fingerprint_of(tensors)).second) << "a small tensor counts as a whole: " << i;
  }
}

TEST(FingerprintTest, ChangesWithTheHeaders) {
  std::set<std::uint64_t> seen = {fingerprint_of(some_tensors())};
  EXPECT_TRUE(seen.insert(fingerprint_of(some_tensors(), 2)).second) << "shards";
  EXPECT_TRUE(seen.insert(fingerprint_of(some_tensors(), 1, {{"model_type", "lamma"}})).second) << "config";
  auto tensors = some_tensors();
  tensors[1].name = "smaII";
  EXPECT_TRUE(seen.insert(fingerprint_of(tensors)).second) << "name";
  tensors = some_tensors();
  tensors[0].shape = {64, 40};
  EXPECT_TRUE(seen.insert(fingerprint_of(tensors)).second) << "shape";
}

TEST(FingerprintTest, ChangesWithTheSizeAndTheKeysOfAGgufFile) {
  const test::TemporaryFolder folder;
  test::GgufWriter writer;
  writer.add_u32("llama.block_count", 2).add_tensor(some_tensors()[0]);
  const auto file = folder / "m.gguf";
  writer.write(file);
  std::set<std::uint64_t> seen = {fingerprint_of(file)};
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + 1);
  EXPECT_TRUE(seen.insert(fingerprint_of(file)).second) << "size";
  writer.add_u32("llama.head_count", 2).write(file);
  EXPECT_TRUE(seen.insert(fingerprint_of(file)).second) << "key";
}

}  // namespace
}  // namespace trireme::checkpoint
