// Operators and literals. The expected texts are jinja2's.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

using Table = std::vector<std::pair<std::string, std::string>>;

void expect_all(const Table& table) {
  for (const auto& [source, expected] : table) EXPECT_EQ(evaluate(source), expected) << source;
}

TEST(JinjaExpression, ComputesWithIntegersAsPython) {
  expect_all({
      {"7 // 2", "3"},
      {"-7 // 2", "-4"},
      {"7 // -2", "-4"},
      {"7 % 3", "1"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"2 ** 10", "1024"},
      {"2 ** -1", "0.5"},
      {"2 ** 3 ** 2", "64"},
      {"-2 ** 2", "4"},
      {"6 / 2", "3.0"},
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"true + 1", "2"},
      {"1 / 0", "error: division by zero"},
      {"1_000", "1000"},
      {"10 - 2 - 3", "5"},
  });
}

TEST(JinjaExpression, ComputesWithFloatsAsPython) {
  expect_all({
      {"1.5 + 1", "2.5"},
      {"0.1 + 0.2", "0.30000000000000004"},
      {"7.5 // 2", "3.0"},
      {"-7.5 // 2", "-4.0"},
      {"7.5 % -2", "-0.5"},
      {"1e3", "1000.0"},
      {"1e22", "1e+22"},
      {"1.5e-7", "1.5e-07"},
      {"1e16", "1e+16"},
      {"123456789012345.0", "123456789012345.0"},
      {"0.0001", "0.0001"},
      {"-0.0", "-0.0"},
  });
}

TEST(JinjaExpression, WorksOnTextAndLists) {
  expect_all({
      {"'a' + 'b'", "ab"},
      {"'ab' * 2", "abab"},
      {"3 * 'ab'", "ababab"},
      {"'ab' * -1", ""},
      {"[1] + [2]", "[1, 2]"},
      {"[1] * 2", "[1, 1]"},
      {"'a' ~ 1 ~ none ~ true ~ 1.0", "a1NoneTrue1.0"},
      {"1 ~ 2 + 3", "error: can only concatenate str (not \"int\") to str"},
      {"'a' + 1", "error: can only concatenate str (not \"int\") to str"},
      {"1 + 'a'", "error: unsupported operand type(s) for +: 'int' and 'str'"},
      {"[1] + 'a'", "error: can only concatenate list (not \"str\") to list"},
      {"{} + {}", "error: unsupported operand type(s) for +: 'dict' and 'dict'"},
      {"'a' * 2.0", "error: can't multiply sequence by non-int of type 'float'"},
      {"'a' 'b'", "ab"},
      {"'%s-%d' % ('a', 3)", "a-3"},
  });
}

TEST(JinjaExpression, ReadsEscapesInStrings) {
  expect_all({
      {"'it\\'s'", "it's"},
      {"'a\\tb'", "a\tb"},
      {"'\\x41\\u00e9\\101'", "AéA"},
      {"'a\\qb'", "a\\qb"},
      {"'\\\\n'", "\\n"},
      {"'a\\nb'", "a\nb"},
  });
}

TEST(JinjaExpression, BindsOperatorsAsJinja) {
  expect_all({
      {"not 1 in [1]", "False"},
      {"not true and false", "False"},
      {"1 if 0 else 2 if 0 else 3", "3"},
      {"-1 | abs", "1"},
      {"1 + 1 ~ 'a' * 2", "error: unsupported operand type(s) for +: 'int' and 'str'"},
      {"'a' | upper ~ 'b'", "Ab"},
      {"[1, 2] | length + 1", "3"},
      {"2 - -1", "3"},
      {"1 is defined and 2 > 1", "True"},
      {"4 is even or nope.x", "True"},
  });
}

TEST(JinjaExpression, ReturnsTheDecidingOperandOfAndAndOr) {
  expect_all({
      {"0 or 'x'", "x"},
      {"1 and 2", "2"},
      {"0 or '' or none", "None"},
      {"[] and 1", "[]"},
      {"not not 1", "True"},
  });
}

TEST(JinjaExpression, LeavesOutTheElseOfAnInlineIf) {
  expect_all({
      {"1 if true", "1"},
      {"1 if false", ""},
      {"(1 if false) is defined", "False"},
      {"(1 if false) + 1",
       "error: the inline if-expression on line 1 evaluated to false and no else section was defined."},
  });
}

}  // namespace
}  // namespace trireme::chat
