#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace trireme::base {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 3;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  const Result<int> bad = not_found("no such key");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(bad.error().message, "no such key");
}

TEST(Result, TakingTheWrongSideIsOurOwnMistake) {
  const Result<int> bad = invalid_argument("because");
  EXPECT_THROW(bad.value(), CheckFailure);
  const Result<int> good = 3;
  EXPECT_THROW(good.error(), CheckFailure);
}

TEST(Result, ValuesThatOnlyMoveComeOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 4);
}

}  // namespace
}  // namespace trireme::base
