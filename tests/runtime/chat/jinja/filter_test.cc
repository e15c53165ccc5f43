// Filters. The expected texts are jinja2's.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

using Table = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kContext =
    R"({"l": [3, 1, 2], "d": {"b": 1, "a": 2}, "m": [{"role": "user", "n": 2}, {"role": "system", "n": 1, "f": [7]}]})";

void expect_all(const Table& table) {
  for (const auto& [source, expected] : table) EXPECT_EQ(evaluate(source, kContext), expected) << source;
}

TEST(JinjaFilter, ChangeText) {
  expect_all({
      {"' a ' | trim", "a"},
      {"'xax' | trim('x')", "a"},
      {"'aB' | upper", "AB"},
      {"'aB' | lower", "ab"},
      {"'straße É' | upper", "STRASSE É"},
      {"'hELLO wORLD' | capitalize", "Hello world"},
      {"\"don't stop (now) a-b\" | title", "Don't Stop (Now) A-B"},
      {"'aaa' | replace('a', 'b', 2)", "bba"},
      {"'a\\nb\\n\\nc' | indent(2)", "a\n  b\n\n  c"},
      {"'a\\nb\\n\\nc' | indent(2, true, true)", "  a\n  b\n  \n  c"},
      {"'a' | center(5)", "  a  "},
      {"'<&>' | e", "&lt;&amp;&gt;"},
      {"'a b' | wordcount", "2"},
      {"5 | upper", "5"},
  });
}

TEST(JinjaFilter, Format) {
  expect_all({
      {"'%s-%s' | format(1, 2)", "1-2"},
      {"'%(a)s' | format(a=1)", "1"},
      {"'%05.1f|' % 2.25", "002.2|"},
      {"'%5s|%-5s|' % ('a', 'b')", "    a|b    |"},
      {"'%x' % 255", "ff"},
      {"'%r' % 'a'", "'a'"},
      {"'%%' % ()", "%"},
      {"'%s %s' % 'a'", "error: not enough arguments for format string"},
      {"'%s' % ('a', 'b')", "error: not all arguments converted during string formatting"},
      {"'%+d' % 5", "+5"},
      {"'%.2s' % 'abc'", "ab"},
      {"'%03d' % -5", "-05"},
      {"'%e' % 12345.678", "1.234568e+04"},
  });
}

TEST(JinjaFilter, Convert) {
  expect_all({
      {"'3' | int", "3"},
      {"'3.7' | int", "3"},
      {"'x' | int", "0"},
      {"'x' | int(5)", "5"},
      {"'ff' | int(base=16)", "255"},
      {"' 42 ' | int", "42"},
      {"-3.9 | int", "-3"},
      {"none | int", "0"},
      {"'1.5' | float", "1.5"},
      {"'x' | float", "0.0"},
      {"true | int", "1"},
      {"2.5 | round", "2.0"},
      {"3.5 | round", "4.0"},
      {"2.567 | round(2)", "2.57"},
      {"2.675 | round(2)", "2.67"},
      {"2.1 | round(0, 'ceil')", "3.0"},
      {"7 | round", "7"},
      {"-5 | abs", "5"},
      {"none | string", "None"},
      {"nope | default('d')", "d"},
      {"'' | default('d')", ""},
      {"'' | default('d', true)", "d"},
      {"nope | d(1)", "1"},
      {"'x' | safe", "x"},
  });
}

TEST(JinjaFilter, LookAtSequences) {
  expect_all({
      {"'abc' | length", "3"},
      {"d | count", "2"},
      {"5 | length", "error: object of type 'int' has no len()"},
      {"l | first", "3"},
      {"l | last", "2"},
      {"[] | first", ""},
      {"([] | first).x", "error: No first item, sequence was empty."},
      {"l | join('-')", "3-1-2"},
      {"m | join(',', attribute='role')", "user,system"},
      {"l | reverse | list", "[2, 1, 3]"},
      {"'abc' | reverse", "cba"},
      {"l | sort", "[1, 2, 3]"},
      {"l | sort(reverse=true)", "[3, 2, 1]"},
      {"['b', 'A', 'c'] | sort", "['A', 'b', 'c']"},
      {"['b', 'A', 'c'] | sort(case_sensitive=true)", "['A', 'b', 'c']"},
      {"m | sort(attribute='n') | map(attribute='n') | list", "[1, 2]"},
      {"l | sum", "6"},
      {"m | sum(attribute='n')", "3"},
      {"l | min", "1"},
      {"['b', 'A'] | max", "b"},
      {"[1, 1, 'a', 'A'] | unique | list", "[1, 'a']"},
      {"l | batch(2, 'x') | list", "[[3, 1], [2, 'x']]"},
      {"'ab' | list", "['a', 'b']"},
      {"[1, 'a'] | sort", "error: '<' not supported between instances of 'str' and 'int'"},
  });
}

TEST(JinjaFilter, SortAndListDicts) {
  expect_all({
      {"d | items | list", "[('b', 1), ('a', 2)]"},
      {"d | dictsort", "[('a', 2), ('b', 1)]"},
      {"{'b': 1, 'A': 2} | dictsort(true)", "[('A', 2), ('b', 1)]"},
      {"d | dictsort(by='value')", "[('b', 1), ('a', 2)]"},
      {"d | dictsort(reverse=true)", "[('b', 1), ('a', 2)]"},
      {"nope | items | list", "[]"},
  });
}

TEST(JinjaFilter, MapAndSelect) {
  expect_all({
      {"m | map(attribute='role') | join(',')", "user,system"},
      {"m | map(attribute='nope', default='-') | list", "['-', '-']"},
      {"m | map(attribute='f.0') | list", "error: 'dict object' has no attribute 'f'"},
      {"l | map('string') | list", "['3', '1', '2']"},
      {"['a'] | map('replace', 'a', 'b') | join", "b"},
      {"m | selectattr('role', 'equalto', 'user') | list | length", "1"},
      {"m | selectattr('f') | list | length", "1"},
      {"m | selectattr('f', 'defined') | list | length", "1"},
      {"m | rejectattr('role', 'in', ['user']) | map(attribute='role') | list", "['system']"},
      {"l | select('odd') | list", "[3, 1]"},
      {"l | reject('odd') | list", "[2]"},
      {"l | select('gt', 1) | list", "[3, 2]"},
      {"[0, 1, ''] | select | list", "[1]"},
      {"l | map | list", "error: map requires a filter argument"},
      {"l | select('nope') | list", "error: No test named 'nope'."},
      {"1 | nonsense", "error: chat template: line 1: No filter named 'nonsense'."},
      {"1 if true else 2 | nonsense", "1"},  // only where a condition leads there
  });
}

}  // namespace
}  // namespace trireme::chat
