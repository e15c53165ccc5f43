#include "kernels/packed_matrix.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/dtype.h"

namespace trireme::kernels {
namespace {

TEST(PackedMatrix, PlacesElementsPanelByPanelAndLeavesPaddingZero) {
  const PackedMatrixShape shape{WeightFormat::kF32, 35, 3};
  std::vector<float> rows(35 * 3);
  std::iota(rows.begin(), rows.end(), 1.0f);
  base::AlignedBuffer<std::byte> packed(shape.bytes());
  ASSERT_EQ(packed.size(), 2u * 3 * 32 * 4);
  pack_rows(shape, rows.data(), 0, 35, packed.data());
  const auto* elements = reinterpret_cast<const float*>(packed.data());
  for (std::int64_t out = 0; out < 64; ++out) {
    for (std::int64_t in = 0; in < 3; ++in) {
      const float expected = out < 35 ? rows[static_cast<std::size_t>(out * 3 + in)] : 0.0f;
      EXPECT_EQ(elements[((out / 32) * 3 + in) * 32 + out % 32], expected) << out << ' ' << in;
    }
  }
}

TEST(PackedMatrix, IsTheSameWhenRowsArePackedInParts) {
  const PackedMatrixShape shape{WeightFormat::kF16, 70, 5};
  std::vector<float> rows(70 * 5);
  std::iota(rows.begin(), rows.end(), -100.0f);
  base::AlignedBuffer<std::byte> whole(shape.bytes()), parts(shape.bytes());
  pack_rows(shape, rows.data(), 0, 70, whole.data());
  for (std::int64_t row = 0; row < 70; row += 7) pack_rows(shape, rows.data() + row * 5, row, 7, parts.data());
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), shape.bytes()), 0);
}

TEST(PackedMatrix, RoundsToNearestEven) {
  const std::vector<float> row{1.0f + 0x1p-11f, 1.0f + 3 * 0x1p-11f, 70000.0f, 0x1p-25f, 1.0f + 0x1p-8f};
  base::AlignedBuffer<std::byte> f16(PackedMatrixShape{WeightFormat::kF16, 1, 5}.bytes());
  base::AlignedBuffer<std::byte> bf16(PackedMatrixShape{WeightFormat::kBF16, 1, 5}.bytes());
  pack_rows({WeightFormat::kF16, 1, 5}, row.data(), 0, 1, f16.data());
  pack_rows({WeightFormat::kBF16, 1, 5}, row.data(), 0, 1, bf16.data());
  const auto* half = reinterpret_cast<const std::uint16_t*>(f16.data());
  const auto* brain = reinterpret_cast<const std::uint16_t*>(bf16.data());
  EXPECT_EQ(base::f16_to_f32(half[0]), 1.0f);
  EXPECT_EQ(base::f16_to_f32(half[32]), 1.0f + 0x1p-9f);
  EXPECT_EQ(half[64], 0x7C00);
  EXPECT_EQ(half[96], 0);
  EXPECT_EQ(base::bf16_to_f32(brain[4 * 32]), 1.0f);
}

TEST(PackedMatrix, RefusesRowsBeyondTheMatrix) {
  const PackedMatrixShape shape{WeightFormat::kF32, 4, 1};
  base::AlignedBuffer<std::byte> packed(shape.bytes());
  const std::vector<float> rows(4);
  EXPECT_THROW(pack_rows(shape, rows.data(), 2, 3, packed.data()), base::CheckFailure);
}

}  // namespace
}  // namespace trireme::kernels
