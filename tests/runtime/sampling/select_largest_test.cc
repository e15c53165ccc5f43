#include "runtime/sampling/select_largest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/runtime/sampling/test_rows.h"

namespace trireme::sampling {
namespace {

std::vector<std::int32_t> by_full_sort(const std::vector<float>& values, std::size_t count) {
  std::vector<std::int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(count, order.size()));
  return order;
}

TEST(SelectLargest, AgreesWithAFullSort) {
  std::vector<std::int32_t> order;
  for (const int distinct : {0, 1, 5, 200}) {
    const std::vector<float> values = random_logits(3000, 7, 3.0f, distinct);
    for (const std::size_t count : {0U, 1U, 2U, 17U, 1000U, 1499U, 1500U, 2999U, 3000U, 9000U}) {
      select_largest(values, count, order);
      EXPECT_EQ(order, by_full_sort(values, count)) << distinct << " distinct, " << count << " of them";
    }
  }
}

TEST(SelectLargest, CopesWithSortedInput) {
  std::vector<float> values(5000);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<std::int32_t> order;
  select_largest(values, 3, order);
  EXPECT_EQ(order, (std::vector<std::int32_t>{4999, 4998, 4997}));
  std::reverse(values.begin(), values.end());
  select_largest(values, 3, order);
  EXPECT_EQ(order, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(SelectLargest, LeavesNanOutAndKeepsMaskedOnesLast) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  std::vector<std::int32_t> order;
  select_largest(std::vector<float>{kNan, kMasked, 1.0f, kNan, 2.0f}, 5, order);
  EXPECT_EQ(order, (std::vector<std::int32_t>{4, 2, 1}));
}

}  // namespace
}  // namespace trireme::sampling
