#include "runtime/sampling/row_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/runtime/sampling/test_rows.h"

namespace trireme::sampling {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(RowScan, FindsTheMaximumAtEveryLength) {
  for (std::size_t size = 1; size < 70; ++size) {
    const std::vector<float> row = random_logits(size, static_cast<std::uint32_t>(size));
    const RowScan scan = scan_row(row);
    const auto expected = std::max_element(row.begin(), row.end());
    EXPECT_TRUE(scan.finite);
    EXPECT_EQ(scan.max, *expected) << size;
    EXPECT_EQ(scan.argmax, expected - row.begin()) << size;
  }
}

TEST(RowScan, TakesTheLowestIdAmongEquals) {
  std::vector<float> row(5000, -1.0f);
  for (const std::size_t id : {4999U, 3000U, 1030U, 1029U}) {
    row[id] = 2.0f;
    EXPECT_EQ(scan_row(row).argmax, static_cast<std::int32_t>(id));
  }
}

TEST(RowScan, SeesNanAndInfinityWhereverTheyAre) {
  for (const float bad : {kNan, -kNan, kInfinity}) {
    for (const std::size_t place : {0U, 7U, 1023U, 1024U, 2047U, 2050U}) {
      std::vector<float> row = random_logits(2051, 1);
      row[place] = bad;
      EXPECT_FALSE(scan_row(row).finite) << bad << " at " << place;
    }
  }
}

TEST(RowScan, TakesMinusInfinityForAMask) {
  std::vector<float> row(2000, -kInfinity);
  EXPECT_FALSE(scan_row(row).finite);
  row[1500] = -std::numeric_limits<float>::max();
  EXPECT_TRUE(scan_row(row).finite);
  EXPECT_EQ(scan_row(row).argmax, 1500);
  EXPECT_FALSE(scan_row({}).finite);
}

}  // namespace
}  // namespace trireme::sampling
