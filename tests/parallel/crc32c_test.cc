#include "parallel/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>

#include "parallel/payload_checksum.h"
#include "tests/parallel/bytes.h"

namespace trireme::parallel {
namespace {

TEST(Crc32c, GivesThePublishedValues) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xE3069283u);
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(crc32c(bytes), 0x8A9136AAu);  // RFC 3720, B.4: 32 zeros, 32 ones, ascending
  bytes.assign(32, std::byte{0xFF});
  EXPECT_EQ(crc32c(bytes), 0x62A8AB43u);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46DD794Eu);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, OfPartsIsThatOfTheWhole) {
  const auto bytes = test::make_bytes(100, 1);
  const auto whole = std::span<const std::byte>(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32c(whole.subspan(cut), crc32c(whole.first(cut))), crc32c(whole));
  }
}

TEST(PayloadChecksum, NoticesEveryFlippedBitSwapAndCut) {
  for (const std::size_t size : {1u, 7u, 31u, 32u, 33u, 100u, 256u}) {
    auto bytes = test::make_bytes(size, static_cast<int>(size));
    const auto checksum = payload_checksum(bytes);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      EXPECT_NE(payload_checksum(bytes), checksum) << "size " << size << " bit " << bit;
      bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    }
    EXPECT_NE(payload_checksum(std::span(bytes).first(size - 1)), checksum);
    if (size >= 100) {
      std::swap_ranges(bytes.begin(), bytes.begin() + 32, bytes.begin() + 32);
      EXPECT_NE(payload_checksum(bytes), checksum);
    }
  }
}

}  // namespace
}  // namespace trireme::parallel
