// Packing of matrices: what a file holds in groups is kept, the rest is rounded, and impossible values are named.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/aligned_buffer.h"
#include "kernels/reference/packed_element.h"
#include "runtime/model/matrix_source.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace trireme::model {
namespace {

using checkpoint::TensorType;
using kernels::WeightFormat;

class PackSourceTest : public testing::Test {
 protected:
  static constexpr std::int64_t kRows = 40, kSize = 64;

  const checkpoint::Checkpoint& open(const test::StoredTensor& tensor) {
    test::GgufWriter writer;
    writer.add_string("general.architecture", "llama").add_tensor(tensor).write(folder_.path() / "model.gguf");
    checkpoint_ = checkpoint::Checkpoint::open(folder_.path() / "model.gguf").value();
    return *checkpoint_;
  }
  base::Status pack(const test::StoredTensor& tensor, WeightFormat format) {
    open(tensor);
    shape_ = {format, kRows, kSize};
    packed_ = base::AlignedBuffer<std::byte>(shape_.bytes());
    return pack_source(*checkpoint_, {{{"w", kRows}}, kSize}, format, packed_.data(), pool_);
  }
  // The largest difference between a packed element and what the file holds.
  double largest_error() {
    std::vector<float> rows(kRows * kSize);
    checkpoint::Checkpoint::read_rows(*checkpoint_->find("w"), 0, kRows, rows.data());
    double error = 0.0;
    for (std::int64_t i = 0; i < kRows * kSize; ++i) {
      const float packed = kernels::reference::packed_element({shape_, packed_.data()}, i / kSize, i % kSize);
      error = std::max(error, std::abs(static_cast<double>(packed) - rows[static_cast<std::size_t>(i)]));
    }
    return error;
  }

  const test::TemporaryFolder folder_;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  kernels::ThreadPool pool_{2};
  kernels::PackedMatrixShape shape_;
  base::AlignedBuffer<std::byte> packed_;
};

TEST_F(PackSourceTest, KeepsWhatTheFileHoldsInGroups) {
  const std::pair<TensorType, WeightFormat> kept[] = {{TensorType::kQ8_0, WeightFormat::kQ8_0},
                                                      {TensorType::kQ5_0, WeightFormat::kQ8_0},
                                                      {TensorType::kQ4_0, WeightFormat::kQ8_0},
                                                      {TensorType::kQ4_0, WeightFormat::kQ4_0},
                                                      {TensorType::kQ4_1, WeightFormat::kQ4_1}};
  for (const auto& [type, format] : kept) {
    test::StoredTensor tensor = test::random_tensor("w", type, {kRows, kSize}, 1.0, 9);
    // The random quants of Q8_0 reach -128, which is not kept.
    if (type == TensorType::kQ8_0) {
      for (std::size_t i = 0; i < tensor.bytes.size(); ++i) {
        if (i % 34 >= 2 && tensor.bytes[i] == std::byte{0x80}) tensor.bytes[i] = std::byte{0x81};
      }
    }
    const auto status = pack(tensor, format);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(largest_error(), 0.0) << to_string(type) << ' ' << to_string(format);
  }
}

TEST_F(PackSourceTest, RoundsWhatTheFormatDoesNotHold) {
  const std::pair<WeightFormat, double> tolerances[] = {
      {WeightFormat::kInt8, 0.02}, {WeightFormat::kQ8_0, 0.02}, {WeightFormat::kQ4_0, 0.6}, {WeightFormat::kQ4_1, 0.3}};
  for (const auto& [format, tolerance] : tolerances) {
    ASSERT_TRUE(pack(test::random_tensor("w", TensorType::kQ5_1, {kRows, kSize}, 1.0, 9), format).ok());
    EXPECT_GT(largest_error(), 0.0) << to_string(format);
    EXPECT_LT(largest_error(), tolerance) << to_string(format);
  }
}

TEST_F(PackSourceTest, RoundsARowAnewThatUsesMinus128) {
  test::StoredTensor tensor = test::random_tensor("w", TensorType::kQ8_0, {kRows, kSize}, 1.0, 9);
  tensor.bytes[2] = std::byte{0x80};
  ASSERT_TRUE(pack(tensor, WeightFormat::kQ8_0).ok());
  for (std::int64_t i = 0; i < kRows * kSize; ++i) {
    EXPECT_GE(kernels::reference::quantised_element({shape_, packed_.data()}, i / kSize, i % kSize).quant, -127);
  }
  EXPECT_GT(largest_error(), 0.0);
  EXPECT_LT(largest_error(), 0.05);
}

TEST_F(PackSourceTest, NamesATensorWhoseValuesAreNotFinite) {
  std::vector<float> values(kRows * kSize, 1.0f);
  values[7] = std::numeric_limits<float>::infinity();
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kInt8, WeightFormat::kQ4_1}) {
    const auto status = pack(test::make_tensor("w", TensorType::kF32, {kRows, kSize}, values), format);
    ASSERT_FALSE(status.ok()) << to_string(format);
    EXPECT_NE(status.error().message.find("tensor w holds values that are not finite"), std::string::npos);
  }
  test::StoredTensor tensor = test::random_tensor("w", TensorType::kQ8_0, {kRows, kSize}, 1.0, 9);
  tensor.bytes[0] = std::byte{0x00};
  tensor.bytes[1] = std::byte{0x7C};  // an infinite scale
  EXPECT_FALSE(pack(tensor, WeightFormat::kQ8_0).ok());
}

}  // namespace
}  // namespace trireme::model
