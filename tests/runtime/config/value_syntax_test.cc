#include "runtime/config/value_syntax.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace trireme::config {
namespace {

using Accepted = std::tuple<const char*, Unit, std::int64_t>;

class AcceptedNumber : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedNumber, HasTheExpectedValue) {
  const auto& [text, unit, expected] = GetParam();
  const base::Result<std::int64_t> value = parse_whole_number(text, unit);
  ASSERT_TRUE(value.ok()) << text << ": " << value.error().message;
  EXPECT_EQ(*value, expected) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, AcceptedNumber,
    testing::Values(Accepted{"0", Unit::kCount, 0}, Accepted{"512", Unit::kCount, 512},
                    Accepted{"-1", Unit::kCount, -1}, Accepted{"4k", Unit::kCount, 4000},
                    Accepted{"4K", Unit::kCount, 4096}, Accepted{"1.5k", Unit::kCount, 1500},
                    Accepted{"2M", Unit::kCount, 2 * 1024 * 1024},
                    Accepted{"16GiB", Unit::kBytes, std::int64_t{16} << 30},
                    Accepted{"512MiB", Unit::kBytes, 512 << 20}, Accepted{"1.5KiB", Unit::kBytes, 1536},
                    Accepted{"2GB", Unit::kBytes, 2'000'000'000}, Accepted{"16384", Unit::kBytes, 16384},
                    Accepted{"64B", Unit::kBytes, 64}, Accepted{"30s", Unit::kMilliseconds, 30'000},
                    Accepted{"500ms", Unit::kMilliseconds, 500}, Accepted{"0.5s", Unit::kMilliseconds, 500},
                    Accepted{"2min", Unit::kMilliseconds, 120'000}, Accepted{"8000", Unit::kMilliseconds, 8000},
                    Accepted{"9223372036854775807", Unit::kCount, INT64_MAX}));

using Refused = std::tuple<const char*, Unit>;

class RefusedNumber : public testing::TestWithParam<Refused> {};

TEST_P(RefusedNumber, IsAnError) {
  const auto& [text, unit] = GetParam();
  EXPECT_FALSE(parse_whole_number(text, unit).ok()) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, RefusedNumber,
    testing::Values(Refused{"", Unit::kCount}, Refused{"-", Unit::kCount}, Refused{"--1", Unit::kCount},
                    Refused{"+1", Unit::kCount}, Refused{"1.5", Unit::kCount}, Refused{"3.0", Unit::kCount},
                    Refused{"1e3", Unit::kCount}, Refused{"0x10", Unit::kCount}, Refused{"4 k", Unit::kCount},
                    Refused{"k", Unit::kCount}, Refused{"1.2.3k", Unit::kCount}, Refused{".5k", Unit::kCount},
                    Refused{".nan", Unit::kCount}, Refused{".inf", Unit::kCount}, Refused{"4GiB", Unit::kCount},
                    Refused{"4k", Unit::kBytes}, Refused{"4gib", Unit::kBytes}, Refused{"0.3B", Unit::kBytes},
                    Refused{"30h", Unit::kMilliseconds}, Refused{"9223372036854775808", Unit::kCount},
                    Refused{"9223372036854775807K", Unit::kCount}, Refused{"18446744073709551617", Unit::kCount},
                    Refused{"9999999999.5TiB", Unit::kBytes}));

TEST(WholeNumber, IsWrittenSoThatItReadsBack) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1023}, std::int64_t{16384}, std::int64_t{3} << 40, INT64_MAX}) {
    for (const Unit unit : {Unit::kCount, Unit::kBytes, Unit::kMilliseconds}) {
      const std::string text = format_whole_number(value, unit);
      EXPECT_EQ(*parse_whole_number(text, unit), value) << text;
    }
  }
  EXPECT_EQ(format_whole_number(16384, Unit::kBytes), "16KiB");
}

TEST(RealNumber, MustBeFiniteAndComplete) {
  EXPECT_EQ(*parse_real_number("0.2"), 0.2);
  EXPECT_EQ(*parse_real_number("1e-3"), 1e-3);
  for (const char* text : {"", "nan", ".nan", "inf", "-inf", ".inf", "1e999", "0.2x", "0,2", " 0.2", "true"}) {
    EXPECT_FALSE(parse_real_number(text).ok()) << text;
  }
}

TEST(Boolean, IsTrueOrFalseAndNothingElse) {
  EXPECT_TRUE(*parse_boolean("true"));
  EXPECT_FALSE(*parse_boolean("false"));
  for (const char* text : {"", "True", "yes", "1", "on"}) EXPECT_FALSE(parse_boolean(text).ok()) << text;
}

TEST(List, HoldsWholeNumbersBetweenCommas) {
  EXPECT_EQ(*parse_list("10,20"), (std::vector<std::int64_t>{10, 20}));
  EXPECT_TRUE(parse_list("")->empty());
  for (const char* text : {",", "10,", ",10", "10,,20", "10, 20", "a"}) EXPECT_FALSE(parse_list(text).ok()) << text;
}

TEST(PlainUtf8, NamesTheFirstByteThatIsNot) {
  std::size_t offset = 0;
  EXPECT_TRUE(is_plain_utf8("Grüße, 世界", "", offset));
  EXPECT_FALSE(is_plain_utf8("ab\xFF", "", offset));
  EXPECT_EQ(offset, 2u);
  EXPECT_FALSE(is_plain_utf8(std::string_view("a\0b", 3), "\n", offset));
  EXPECT_EQ(offset, 1u);
  EXPECT_FALSE(is_plain_utf8("\xED\xA0\x80", "", offset)) << "a lone surrogate";
  EXPECT_TRUE(is_plain_utf8("a\nb", "\n", offset));
}

}  // namespace
}  // namespace trireme::config
