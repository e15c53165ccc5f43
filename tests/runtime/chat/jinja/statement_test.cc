// Statements, and what is visible where. The expected texts are jinja2's.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

using Table = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kContext = R"({"l": [1, 2, 3], "d": {"b": 1, "a": 2}})";

void expect_all(const Table& table) {
  for (const auto& [source, expected] : table) EXPECT_EQ(render(source, kContext), expected) << source;
}

TEST(JinjaStatement, LoopsKnowWhereTheyAre) {
  expect_all({
      {"{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ "
       "loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.depth }};{% endfor %}",
       "1032TrueFalse321;2121FalseFalse3131;3210FalseTrue321;"},
      {"{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}", "aTruebTrueaFalse"},
  });
}

TEST(JinjaStatement, LoopsGoOverAnySequence) {
  expect_all({
      {"{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}", "b1a2"},
      {"{% for k in d %}{{ k }}{% endfor %}", "ba"},
      {"{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "123"},
      {"{% for c in 'añb' %}[{{ c }}]{% endfor %}", "[a][ñ][b]"},
      {"{% for x in nope %}x{% endfor %}", ""},
      {"{% for x in 5 %}x{% endfor %}", "error: 'int' object is not iterable"},
      {"{% for x in none %}x{% endfor %}", "error: 'NoneType' object is not iterable"},
      {"{% for a, b in [[1]] %}{% endfor %}", "error: not enough values to unpack (expected 2, got 1)"},
  });
}

TEST(JinjaStatement, LoopsFilterAndHaveAnElse) {
  expect_all({
      {"{% for x in l if x != 2 %}{{ x }}{{ loop.length }}{{ loop.index }},{% endfor %}", "121,322,"},
      {"{% for x in [] %}a{% else %}none{% endfor %}", "none"},
      {"{% for x in l if x > 9 %}a{% else %}none{% endfor %}", "none"},
  });
}

TEST(JinjaStatement, BreakAndContinueBelongToTheInnermostLoop) {
  expect_all({
      {"{% for x in l %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "13"},
      {"{% for x in l %}{% for y in l %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
       "11 21 31 "},
      {"{% for x in l %}{% continue %}{% else %}else{% endfor %}", "else"},
      {"{% for x in l %}{% if x == 2 %}{% break %}{% endif %}{% else %}else{% endfor %}", ""},
  });
}

TEST(JinjaStatement, VariablesEndWithTheirBlock) {
  expect_all({
      {"{% set x = 1 %}{% for i in l %}{{ x }}{% set x = i + 10 %}{{ x }} {% endfor %}{{ x }}", "111 112 113 1"},
      {"{% if true %}{% set y = 5 %}{% endif %}{{ y }}", "5"},
      {"{% with a = 1, b = 2 %}{{ a }}{{ b }}{% set c = 3 %}{% endwith %}[{{ a }}{{ c }}]", "12[]"},
      {"{% for x in l %}{% endfor %}[{{ x }}{{ loop }}]", "[]"},
  });
}

TEST(JinjaStatement, SetTakesTuplesNamespacesAndBlocks) {
  expect_all({
      {"{% set a, b = 1, 2 %}{{ a }}{{ b }}", "12"},
      {"{% set t = 1, 2 %}{{ t }}", "(1, 2)"},
      {"{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}{{ ns }}", "1<Namespace {'a': 1}>"},
      {"{% set d.x = 1 %}", "error: cannot assign attribute on non-namespace object"},
      {"{% set b %} a {{ 1 + 1 }} {% endset %}[{{ b }}]", "[ a 2 ]"},
      {"{% set b | upper | trim %} abc {% endset %}[{{ b }}]", "[ABC]"},
      {"{% set ns = namespace(x=[]) %}{% for i in l %}{% set ns.x = ns.x + [i] %}{% endfor %}{{ ns.x }}", "[1, 2, 3]"},
      {"{% set x = [] %}{% for i in l %}{% set _ = x.append(i) %}{% endfor %}{{ x }}", "[1, 2, 3]"},
  });
}

TEST(JinjaStatement, MacrosTakeArgumentsByPositionAndName) {
  expect_all({
      {"{% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=3) }} {{ m(b=1, a=5) }} {{ "
       "m() }}",
       "1-2-1 1-2-3 5-1-5 -2-"},
      {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "error: macro 'm' takes not more than 1 argument(s)"},
      {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }}", "error: macro 'm' takes no keyword argument 'z'"},
      {"{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, z=4) }}", "1(2,){'z': 4}"},
      {"{% macro f(n) %}{{ n }}{% if n > 0 %},{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}", "5,4,3,2,1,0"},
      {"{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ m() }}{% for x in [7] %}{{ m() }}{% "
       "endfor %}",
       "22"},
  });
}

TEST(JinjaStatement, CallBlocksAreCallers) {
  expect_all({
      {"{% macro m() %}{% for i in l %}{{ i }}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) m() %}<{{ x * 2 "
       "}}>{% endcall %}",
       "1<2>2<4>3<6>"},
      {"{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}", "False"},
      {"{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", "error: No caller defined"},
  });
}

TEST(JinjaStatement, BlocksCanBeFilteredOrMarked) {
  expect_all({
      {"{% filter upper %}abc{{ 'd' }}{% endfilter %}", "ABCD"},
      {"{% filter replace('a', 'b') | upper %}xaxa{% endfilter %}", "XBXB"},
      {"{% generation %}abc{% endgeneration %}", "abc"},
  });
}

TEST(JinjaStatement, UnusedBranchesMayHoldUnknownNames) {
  expect_all({
      {"{% if false %}{{ 1 | nonsense }}{{ nope.x }}{% else %}ok{% endif %}", "ok"},
  });
}

}  // namespace
}  // namespace trireme::chat
