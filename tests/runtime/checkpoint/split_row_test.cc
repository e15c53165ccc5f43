#include "runtime/checkpoint/split_row.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/dtype.h"
#include "tests/support/checkpoint_writer.h"

namespace trireme::checkpoint {
namespace {

TEST(SplitRow, IsTheRowThatWideningGives) {
  for (const TensorType type : {TensorType::kQ8_0, TensorType::kQ4_0, TensorType::kQ5_0, TensorType::kQ4_1}) {
    ASSERT_TRUE(can_split(type));
    const test::StoredTensor stored = test::random_tensor("w", type, {3, 96}, 1.0, 5);
    const TensorInfo tensor{"w", type, stored.shape, stored.bytes.data(), stored.bytes.size(), "file"};
    std::vector<float> widened(96);
    Checkpoint::read_rows(tensor, 1, 2, widened.data());
    SplitRow row;
    split_row(tensor, 1, row);
    ASSERT_EQ(row.scales.size(), 3u);
    ASSERT_EQ(row.quants.size(), 96u);
    for (std::size_t i = 0; i < 96; ++i) {
      const float minimum = row.minimums.empty() ? 0.0f : base::f16_to_f32(row.minimums[i / 32]);
      const float element = base::f16_to_f32(row.scales[i / 32]) * static_cast<float>(row.quants[i]) + minimum;
      ASSERT_EQ(element, widened[i]) << to_string(type) << ' ' << i;
    }
  }
}

TEST(SplitRow, IsNotForOtherTypes) {
  for (const TensorType type : {TensorType::kF32, TensorType::kF16, TensorType::kQ5_1, TensorType::kQ4_K}) {
    EXPECT_FALSE(can_split(type)) << to_string(type);
  }
}

}  // namespace
}  // namespace trireme::checkpoint
