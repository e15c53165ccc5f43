// Comparisons, attributes, elements, slices and undefined values. The expected texts are jinja2's.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

using Table = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kContext =
    R"({"l": [3, 1, 2], "s": "héllo", "d": {"b": 1, "a": 2, "items": 5, "x": {"y": [1, {"z": "deep"}]}}})";

void expect_all(const Table& table) {
  for (const auto& [source, expected] : table) EXPECT_EQ(evaluate(source, kContext), expected) << source;
}

TEST(JinjaAccess, ComparesAsPython) {
  expect_all({
      {"1 < 2 < 3", "True"},
      {"1 < 3 < 2", "False"},
      {"1 == 1.0", "True"},
      {"true == 1", "True"},
      {"'a' < 'b'", "True"},
      {"[1, 2] < [1, 3]", "True"},
      {"(1, 2) == [1, 2]", "False"},
      {"{'a': 1} == {'a': 1.0}", "True"},
      {"'a' < 1", "error: '<' not supported between instances of 'str' and 'int'"},
      {"none < 1", "error: '<' not supported between instances of 'NoneType' and 'int'"},
      {"nope == nope2", "True"},
      {"nope == none", "False"},
      {"1 != 2", "True"},
  });
}

TEST(JinjaAccess, FindsMembers) {
  expect_all({
      {"1 in [1, 2]", "True"},
      {"'b' in d", "True"},
      {"'x' not in d", "False"},
      {"'' in 'abc'", "True"},
      {"'bc' in 'abc'", "True"},
      {"1 in 'abc'", "error: 'in <string>' requires string as left operand, not int"},
      {"nope in [1]", "False"},
      {"1 in nope", "False"},
      {"1 in none", "error: argument of type 'NoneType' is not iterable"},
      {"2 in range(3)", "True"},
  });
}

TEST(JinjaAccess, TakesElements) {
  expect_all({
      {"l[0]", "3"},
      {"l[-1]", "2"},
      {"l[9]", ""},
      {"l[9].x", "error: list object has no element 9"},
      {"s[1]", "é"},
      {"s[-1]", "o"},
      {"d['a']", "2"},
      {"d.a", "2"},
      {"d['nope']", ""},
      {"d.x.y[1].z", "deep"},
      {"d.x.y.1.z", "deep"},
      {"none.x", ""},
      {"none['x'].y", "error: 'None' has no attribute 'x'"},
      {"l.x.y", "error: 'list object' has no attribute 'x'"},
      {"(1).x.y", "error: 'int object' has no attribute 'x'"},
  });
}

TEST(JinjaAccess, TakesMethodsBeforeKeysBehindADot) {
  expect_all({
      {"d['items']", "5"},
      {"d.items()", "dict_items([('b', 1), ('a', 2), ('items', 5), ('x', {'y': [1, {'z': 'deep'}]})])"},
      {"d.get('items')", "5"},
  });
}

TEST(JinjaAccess, SlicesAsPython) {
  expect_all({
      {"l[1:]", "[1, 2]"},
      {"l[:-1]", "[3, 1]"},
      {"l[::-1]", "[2, 1, 3]"},
      {"l[2:0:-1]", "[2, 1]"},
      {"l[0:3:2]", "[3, 2]"},
      {"s[1:4]", "éll"},
      {"s[::-1]", "olléh"},
      {"s[-3:]", "llo"},
      {"s[:100]", "héllo"},
      {"l[::0]", "error: slice step cannot be zero"},
      {"l['a':]", "error: slice indices must be integers or None or have an __index__ method"},
      {"none[1:]", ""},
      {"(1, 2, 3)[1:]", "(2, 3)"},
  });
}

TEST(JinjaAccess, LetsUndefinedValuesBePrintedAndIteratedButNotUsed) {
  expect_all({
      {"nope", ""},
      {"nope ~ 'x'", "x"},
      {"nope | length", "0"},
      {"nope | list", "[]"},
      {"nope | join", ""},
      {"nope is defined", "False"},
      {"nope is undefined", "True"},
      {"not nope", "True"},
      {"nope.x", "error: 'nope' is undefined"},
      {"nope['x']", "error: 'nope' is undefined"},
      {"nope()", "error: 'nope' is undefined"},
      {"nope + 1", "error: 'nope' is undefined"},
      {"'a' + nope", "error: 'nope' is undefined"},
      {"-nope", "error: 'nope' is undefined"},
      {"nope < 1", "error: 'nope' is undefined"},
      {"d.nope.x", "error: 'dict object' has no attribute 'nope'"},
      {"nope | tojson", "error: Object of type Undefined is not JSON serializable"},
  });
}

TEST(JinjaAccess, Tests) {
  expect_all({
      {"s is string", "True"},
      {"1 is number", "True"},
      {"true is number", "True"},
      {"true is integer", "False"},
      {"1 is integer", "True"},
      {"1.0 is float", "True"},
      {"d is mapping", "True"},
      {"l is sequence", "True"},
      {"s is sequence", "True"},
      {"d is iterable", "True"},
      {"1 is iterable", "False"},
      {"none is none", "True"},
      {"true is true", "True"},
      {"false is false", "True"},
      {"true is boolean", "True"},
      {"3 is odd", "True"},
      {"4 is even", "True"},
      {"9 is divisibleby 3", "True"},
      {"9 is divisibleby(2)", "False"},
      {"1 is eq 1", "True"},
      {"1 is ne 1", "False"},
      {"1 is in [1]", "True"},
      {"1 is not in [1]", "False"},
      {"'AB' is upper", "True"},
      {"'ab1' is lower", "True"},
      {"range is callable", "True"},
      {"l is sameas l", "True"},
      {"1 is sameas 1.0", "False"},
      {"'upper' is filter", "True"},
      {"1 is nonsense", "error: chat template: line 1: No test named 'nonsense'."},
  });
}

}  // namespace
}  // namespace trireme::chat
