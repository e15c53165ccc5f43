#include "base/check.h"

#include <gtest/gtest.h>

namespace trireme::base {
namespace {

TEST(Check, PassesSilentlyAndFailsWithPlaceConditionAndValues) {
  TRIREME_CHECK(1 + 1 == 2) << "never read";
  try {
    const int rows = 7;
    TRIREME_CHECK(rows < 5) << rows << " rows";
    FAIL();
  } catch (const CheckFailure& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("check_test.cc"), std::string::npos);
    EXPECT_NE(text.find("rows < 5 7 rows"), std::string::npos) << text;
  }
}

TEST(Check, EvaluatesItsMessageOnlyOnFailure) {
  int evaluated = 0;
  const auto count = [&] { return ++evaluated; };
  TRIREME_CHECK(true) << count();
  EXPECT_EQ(evaluated, 0);
}

}  // namespace
}  // namespace trireme::base
