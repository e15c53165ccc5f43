#include "parallel/payload_checksum.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/check.h"
#include "tests/parallel/bytes.h"

namespace trireme::parallel {
namespace {

using test::make_bytes;

TEST(PayloadChecksumTest, EveryFlippedBitOfAnyLengthShows) {
  for (std::size_t size = 1; size <= 3 * PayloadChecksum::kBlockBytes + 1; size += 13) {
    auto bytes = make_bytes(size, 1);
    const std::uint64_t expected = payload_checksum(bytes);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_NE(payload_checksum(bytes), expected) << "bit " << bit << " of " << size << " bytes";
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(PayloadChecksumTest, LengthAndOrderCount) {
  auto bytes = make_bytes(640, 2);
  const std::uint64_t expected = payload_checksum(bytes);
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  EXPECT_NE(payload_checksum(bytes), expected);
  const std::vector<std::byte> zeros(129);
  EXPECT_NE(payload_checksum(std::span(zeros).first(128)), payload_checksum(zeros));
  EXPECT_NE(payload_checksum({}), payload_checksum(zeros));
}

TEST(PayloadChecksumTest, PartsGiveTheChecksumOfTheWhole) {
  const auto bytes = make_bytes(1000, 3);
  PayloadChecksum parts;
  parts.add(std::span(bytes).first(64));
  parts.add(std::span(bytes).subspan(64, 512));
  parts.add(std::span(bytes).subspan(576));
  EXPECT_EQ(parts.value(), payload_checksum(bytes));
  EXPECT_THROW(parts.add(std::span(bytes).first(64)), base::CheckFailure);  // after an incomplete block
}

// Whatever the processor, or ranks on different hosts would not understand each other.
TEST(PayloadChecksumTest, IsTheSameOnAllProcessors) {
  EXPECT_EQ(payload_checksum(make_bytes(1000, 3)), 9354102432396786532u);
}

}  // namespace
}  // namespace trireme::parallel
