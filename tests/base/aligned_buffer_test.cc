#include "base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace trireme::base {
namespace {

TEST(AlignedBuffer, IsZeroedAlignedAndMoves) {
  AlignedBuffer<float> buffer(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
  for (const float value : buffer.span()) EXPECT_EQ(value, 0.0f);
  buffer[999] = 5.0f;
  const AlignedBuffer<float> moved = std::move(buffer);
  EXPECT_EQ(moved[999], 5.0f);
  EXPECT_EQ(moved.bytes(), 4000u);
  EXPECT_EQ(AlignedBuffer<int>(0).size(), 0u);
}

TEST(AlignedBuffer, ReservesMoreThanItTouches) {
  const AlignedBuffer<std::byte> huge(std::size_t{1} << 40);
  EXPECT_EQ(huge[12345678901], std::byte{0});
}

TEST(AlignedBuffer, ThrowsWhereTheAddressSpaceEnds) {
  EXPECT_THROW(AlignedBuffer<std::byte>(std::size_t{1} << 60), std::bad_alloc);
}

}  // namespace
}  // namespace trireme::base
