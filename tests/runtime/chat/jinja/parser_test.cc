// What is refused, and where.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

TEST(JinjaParser, RefusesBrokenTemplatesWithLineAndCause) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"{{ 1 }", "line 1: unexpected '}'"},
      {"a\n{{ 1", "line 2: expected end of print statement, got end of template"},
      {"{{ }}", "line 1: Expected an expression, got end of print statement"},
      {"{% if x %}\n\n", "line 2: Unexpected end of template: looking for 'endif'"},
      {"{% endif %}", "line 1: Encountered unknown tag 'endif'."},
      {"{% include 'x' %}", "line 1: Encountered unknown tag 'include'."},
      {"{{ ! }}", "line 1: unexpected char '!'"},
      {"{{ 'abc }}", "line 1: a string has no end"},
      {"{{ (1] }}", "line 1: unexpected ']', expected ')'"},
      {"{{ '\\xZZ' }}", "line 1: invalid escape in a string"},
      {"{% for x %}{% endfor %}", "line 1: expected 'in', got end of statement block"},
      {"{% for x in l recursive %}{% endfor %}", "line 1: recursive loops are not supported"},
      {"{% set 1 = 2 %}", "line 1: expected a name, got '1'"},
      {"{% set true = 2 %}", "line 1: can't assign to 'true'"},
      {"\n{# open", "line 2: Missing end of comment tag"},
      {"{% raw %} x", "line 1: Missing end of raw directive"},
      {"{% macro m(a=1, b) %}{% endmacro %}", "line 1: non-default argument follows default argument"},
      {"{{ f(a=1, 2) }}", "line 1: invalid syntax for function call expression"},
      {"{% break %}", "line 1: 'break' outside of a loop"},
      {"{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "line 1: 'break' outside of a loop"},
      {"{% call 1 %}{% endcall %}", "line 1: expected call"},
      {"{{ x is odd is even }}{{ x is is }}", "line 1: You cannot chain multiple tests with is"},
      {"{{ 99999999999999999999 }}", "line 1: the integer 99999999999999999999 is out of range"},
      {"{{ l[0, 1] }}", "line 1: a subscript of several parts is not supported"},
  };
  for (const auto& [source, expected] : table) EXPECT_EQ(render(source), "error: chat template: " + expected) << source;
}

TEST(JinjaParser, SurvivesEveryPrefixOfATemplate) {
  const std::string source =
      "{%- macro m(a, b=[1, {'k': 'v'}]) -%}{{ a[1:2]|join('\\n') }}{%- endmacro %}{% set ns = namespace(x=1) %}"
      "{% for k, v in d.items() if k is not none %}{{ loop.index ~ \"é\" }}{% else %}{% raw %}{{{% endraw %}{# c #}"
      "{% endfor %}{% call(x) m(1) %}{{ x.y.0 ** -2 }}{% endcall %}";
  for (std::size_t size = 0; size <= source.size(); ++size) {
    const std::string text = render(source.substr(0, size), R"({"d": {"a": 1}})");
    EXPECT_EQ(text.find("check failed"), std::string::npos);
  }
}

}  // namespace
}  // namespace trireme::chat
