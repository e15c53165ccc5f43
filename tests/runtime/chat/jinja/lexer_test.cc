// Whitespace control, comments and raw text. The expected texts are jinja2's.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

using Table = std::vector<std::pair<std::string, std::string>>;

void expect_all(const Table& table) {
  for (const auto& [source, expected] : table) EXPECT_EQ(render(source), expected) << source;
}

TEST(JinjaLexer, TrimsTheLineEndBehindABlock) {
  expect_all({
      {"{% if true %}\nx\n{% endif %}\ny", "x\ny"},
      {"{% if true +%}\nx{% endif %}", "\nx"},
      {"{{ 'x' }}\ny", "x\ny"},
      {"{# c #}\ny", "y"},
  });
}

TEST(JinjaLexer, StripsTheSpaceBeforeABlockThatBeginsALine) {
  expect_all({
      {"  {% if true %}\n    x\n  {% endif %}\nz", "    x\nz"},
      {"a  {% if true %}x{% endif %}", "a  x"},
      {"  {%+ if true %}x{% endif %}", "  x"},
      {"\t{# c #} x", " x"},
      {"  {{ 'x' }}", "  x"},
  });
}

TEST(JinjaLexer, MinusTakesAllSpace) {
  expect_all({
      {"a \n {{- 'b' -}} \n c", "abc"},
      {"a {#- c -#} b", "ab"},
      {"{% for x in [1, 2] -%}\n  {{ x }}\n{%- endfor %}\n", "12"},
      {"{%- if true -%} x {%- endif -%} y", "xy"},
  });
}

TEST(JinjaLexer, LeavesRawTextAlone) {
  expect_all({
      {"{% raw %}{{ x }} {% if %}{% endraw %}", "{{ x }} {% if %}"},
      {"a {%- raw -%}  b  {%- endraw -%}  c", "abc"},
      {"{% raw %}\nx\n{% endraw %}\ny", "\nx\ny"},
  });
}

TEST(JinjaLexer, DropsOneLineEndAtTheEnd) {
  expect_all({
      {"x\n", "x"},
      {"x\n\n", "x\n"},
      {"x\r\ny\rz\r\n", "x\ny\nz"},
  });
}

TEST(JinjaLexer, KeepsTagsInStringsAndDicts) {
  expect_all({
      {"{{ '%}' }}{{ '}}' }}{{ {'a': {'b': 1}} }}{{ '{{ x }}' }}", "%}}}{'a': {'b': 1}}{{ x }}"},
      {"{%set x=1%}{{-x-}}", "1"},
  });
}

TEST(JinjaLexer, CopesWithLoneBraces) {
  expect_all({
      {"{ } {a} }} %} #} {", "{ } {a} }} %} #} {"},
  });
}

}  // namespace
}  // namespace trireme::chat
