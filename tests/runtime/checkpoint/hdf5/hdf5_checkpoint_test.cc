// A converted file gives back what was put into it, and libhdf5 reads it as any other.
#include "runtime/checkpoint/hdf5/hdf5_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/runtime/checkpoint/hdf5/converted_file.h"
#include "tests/support/temporary_folder.h"

namespace trireme::checkpoint {
namespace {

class Hdf5CheckpointTest : public testing::Test {
 protected:
  Hdf5CheckpointTest() {
    test::write_converted_file(folder_ / "m.h5");
    checkpoint_ = Checkpoint::open(folder_ / "m.h5").value();
  }
  const test::TemporaryFolder folder_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

TEST_F(Hdf5CheckpointTest, IsTheSourceWithItsSideFiles) {
  EXPECT_EQ(checkpoint_->format(), Format::kHuggingFace);
  EXPECT_EQ(checkpoint_->metadata().at("model_type"), "llama");
  ASSERT_NE(checkpoint_->side_files(), nullptr);
  EXPECT_EQ(checkpoint_->side_files()->read("config.json").value(), R"({"model_type": "llama"})");
  EXPECT_EQ(checkpoint_->side_files()->read("tokenizer.json").error().code, base::ErrorCode::kNotFound);
}

TEST_F(Hdf5CheckpointTest, TellsWhereItComesFrom) {
  const Provenance& provenance = checkpoint_->conversion()->provenance;
  EXPECT_EQ(provenance.weights, "int8");
  EXPECT_EQ(provenance.program_version, "1.2.3");
  EXPECT_EQ(provenance.command_line, "trireme convert a b");
  EXPECT_EQ(provenance.source_bytes, 99u);
  EXPECT_EQ(provenance.source_hash, 0xABCDEFu);
}

TEST_F(Hdf5CheckpointTest, KeepsVectorsAndRefusesToReadWhatIsPacked) {
  const TensorInfo* norm = checkpoint_->find("norm.weight");
  ASSERT_NE(norm, nullptr);
  std::vector<float> values(3);
  Checkpoint::read_rows(*norm, 0, 1, values.data());
  EXPECT_THAT(values, testing::ElementsAre(1.0f, 2.0f, 3.0f));
  const TensorInfo* packed = checkpoint_->find("q.weight");
  ASSERT_NE(packed, nullptr);
  EXPECT_THAT(packed->shape, testing::ElementsAre(40, 48));
  EXPECT_FALSE(Checkpoint::check_readable(*packed));
}

TEST_F(Hdf5CheckpointTest, CopiesMatricesAsTheyWerePacked) {
  const Conversion& conversion = *checkpoint_->conversion();
  kernels::ThreadPool pool(2);
  const std::pair<const char*, int> matrices[] = {{"layers/0/qkv", 1}, {"embedding", 2}};
  for (const auto& [name, number] : matrices) {
    const PackedMatrix* matrix = conversion.find(name);
    ASSERT_NE(matrix, nullptr) << name;
    std::vector<std::byte> packed(matrix->shape.bytes());
    ASSERT_TRUE(copy_matrix(conversion, *matrix, pool, packed.data()));
    EXPECT_EQ(packed, test::matrix_contents(number)) << name;
  }
  EXPECT_EQ(conversion.find("head"), nullptr);
}

TEST_F(Hdf5CheckpointTest, AlignsWhatIsLargeToPages) {
  for (const IndexedMatrix& matrix : test::index_of(test::read_bytes(folder_ / "m.h5")).matrices) {
    if (matrix.extent.bytes >= 4096) {
      EXPECT_EQ(matrix.extent.offset % 4096, 0u) << matrix.name;
    }
  }
}

TEST_F(Hdf5CheckpointTest, HasAFingerprintThatTellsModelsApart) {
  test::write_converted_file(folder_ / "same.h5");
  EXPECT_EQ(Checkpoint::open(folder_ / "same.h5").value()->fingerprint(), checkpoint_->fingerprint());
  auto index = test::index_of(test::read_bytes(folder_ / "m.h5"));
  index.provenance.source_hash = 1;
  folder_.write("other.h5", test::with_index(test::read_bytes(folder_ / "m.h5"), to_json(index)));
  EXPECT_NE(Checkpoint::open(folder_ / "other.h5").value()->fingerprint(), checkpoint_->fingerprint());
}

TEST_F(Hdf5CheckpointTest, IsRecognisedByContentUnderAnyName) {
  std::filesystem::copy(folder_ / "m.h5", folder_ / "model.bin");
  EXPECT_NE(Checkpoint::open(folder_ / "model.bin").value()->conversion(), nullptr);
}

}  // namespace
}  // namespace trireme::checkpoint
