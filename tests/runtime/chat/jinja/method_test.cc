// Methods and global functions. The expected texts are jinja2's.
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

TEST(JinjaMethod, StripText) {
  expect_all({
      {"' a '.strip()", "a"},
      {"'xxaxx'.strip('x')", "a"},
      {"'xxaxx'.lstrip('x')", "axx"},
      {"'xxaxx'.rstrip('x')", "xxa"},
      {"'\\u3000a\\xa0'.strip()", "a"},
      {"'ééa'.strip('é')", "a"},
      {"'abc'.removeprefix('a')", "bc"},
      {"'abc'.removesuffix('c')", "ab"},
  });
}

TEST(JinjaMethod, SplitText) {
  expect_all({
      {"'a,b,,c'.split(',')", "['a', 'b', '', 'c']"},
      {"' a b  c '.split()", "['a', 'b', 'c']"},
      {"' a b  c '.split(none, 1)", "['a', 'b  c ']"},
      {"'a,b,c'.split(',', 1)", "['a', 'b,c']"},
      {"'a,b,c'.rsplit(',', 1)", "['a,b', 'c']"},
      {"' a b  c '.rsplit(none, 1)", "[' a b', 'c']"},
      {"''.split()", "[]"},
      {"''.split(',')", "['']"},
      {"'abc'.split('')", "error: empty separator"},
      {"'aaa'.split('aa')", "['', 'a']"},
      {"'aaa'.rsplit('aa')", "['a', '']"},
      {"'a\\nb\\r\\nc\\n'.splitlines()", "['a', 'b', 'c']"},
      {"'a\\nb'.splitlines(true)", "['a\\n', 'b']"},
      {"'a=b=c'.partition('=')", "('a', '=', 'b=c')"},
      {"'a=b=c'.rpartition('=')", "('a=b', '=', 'c')"},
      {"'abc'.partition('x')", "('abc', '', '')"},
  });
}

TEST(JinjaMethod, SearchText) {
  expect_all({
      {"'hello'.startswith('he')", "True"},
      {"'hello'.startswith(('x', 'he'))", "True"},
      {"'hello'.endswith('lo')", "True"},
      {"'hello'.endswith(['lo'])", "error: endswith first arg must be str or a tuple of str, not list"},
      {"'héllo'.find('l')", "2"},
      {"'hello'.find('z')", "-1"},
      {"'hello'.rfind('l')", "3"},
      {"'hello'.find('l', 3)", "3"},
      {"'hello'.index('z')", "error: substring not found"},
      {"'hello'.count('l')", "2"},
      {"'aaa'.replace('a', 'b', 2)", "bba"},
      {"'日本'.replace('', '-')", "-日-本-"},
  });
}

TEST(JinjaMethod, ChangeText) {
  expect_all({
      {"'aB'.upper()", "AB"},
      {"'aB'.lower()", "ab"},
      {"'aB'.swapcase()", "Ab"},
      {"\"it's a-b\".title()", "It'S A-B"},
      {"'aB'.capitalize()", "Ab"},
      {"'5'.zfill(3)", "005"},
      {"'-5'.zfill(4)", "-005"},
      {"'a'.ljust(3) ~ '|'", "a  |"},
      {"'a'.rjust(3, '*')", "**a"},
      {"'ab'.center(5, '*')", "**ab*"},
      {"'abc'.center(6, '*')", "*abc**"},
      {"'-'.join(['a', 'b'])", "a-b"},
      {"'-'.join([1])", "error: sequence item 0: expected str instance, int found"},
      {"'12'.isdigit()", "True"},
      {"'a1'.isalnum()", "True"},
      {"''.isalpha()", "False"},
      {"'AB'.isupper()", "True"},
  });
}

TEST(JinjaMethod, FormatText) {
  expect_all({
      {"'{} {}'.format(1, 'a')", "1 a"},
      {"'{0}{1}{0}'.format('a', 'b')", "aba"},
      {"'{x}'.format(x=2)", "2"},
      {"'{:>5}|{:<5}|{:^5}|'.format('a', 'b', 'c')", "    a|b    |  c  |"},
      {"'{:*>5}'.format(7)", "****7"},
      {"'{:05.2f}'.format(3.14159)", "03.14"},
      {"'{{}}'.format()", "{}"},
      {"'{!r}'.format('a')", "'a'"},
      {"'{:,}'.format(1234567)", "1,234,567"},
      {"'{:d}'.format(-3)", "-3"},
      {"'{:x}'.format(255)", "ff"},
      {"'{:.2}'.format('abc')", "ab"},
      {"'{:+}'.format(3)", "+3"},
      {"'{} {}'.format(1)", "error: tuple index out of range"},
      {"'{'.format(1)", "error: Single '{' encountered in format string"},
      {"'}'.format(1)", "error: Single '}' encountered in format string"},
      {"'{m[a]}{m[a]}'.format(m={'a': 1})", "11"},
      {"'{:.3f}'.format(2)", "2.000"},
      {"'{:5}|'.format(3)", "    3|"},
      {"'{:5}|'.format('a')", "a    |"},
  });
}

TEST(JinjaMethod, WorkOnDicts) {
  expect_all({
      {"{'a': 1}.items()", "dict_items([('a', 1)])"},
      {"{'a': 1}.keys()", "dict_keys(['a'])"},
      {"{'a': 1}.values()", "dict_values([1])"},
      {"{'a': 1}.get('a')", "1"},
      {"{'a': 1}.get('b')", "None"},
      {"{'a': 1}.get('b', 3)", "3"},
      {"{'a': 1}.nope()", "error: 'dict object' has no attribute 'nope'"},
      {"{'a': 1, 'b': 2}.pop('a')", "1"},
  });
}

TEST(JinjaMethod, WorkOnLists) {
  expect_all({
      {"[1, 2].index(2)", "1"},
      {"[1, 1].count(1)", "2"},
      {"[1, 2].pop()", "2"},
      {"[1].append(2)", "None"},
      {"[1].nope()", "error: 'list object' has no attribute 'nope'"},
  });
}

TEST(JinjaMethod, AreRefusedOnOtherTypes) {
  expect_all({
      {"none.strip()", "error: 'None' has no attribute 'strip'"},
      {"(1).strip()", "error: 'int object' has no attribute 'strip'"},
      {"[1].strip()", "error: 'list object' has no attribute 'strip'"},
      {"1()", "error: 'int' object is not callable"},
  });
}

TEST(JinjaMethod, CountWithRange) {
  expect_all({
      {"range(3) | list", "[0, 1, 2]"},
      {"range(1, 10, 3) | list", "[1, 4, 7]"},
      {"range(5, 0, -2) | list", "[5, 3, 1]"},
      {"range(0) | list", "[]"},
      {"range(3)", "range(0, 3)"},
      {"range(1, 10, 3)", "range(1, 10, 3)"},
      {"range(3)[1]", "1"},
      {"range(1.5)", "error: 'float' object cannot be interpreted as an integer"},
      {"range(1, 2, 0)", "error: range() arg 3 must not be zero"},
  });
}

TEST(JinjaMethod, AreFunctionsToo) {
  expect_all({
      {"dict(a=1, b=2)", "{'a': 1, 'b': 2}"},
      {"dict({'a': 1}, b=3)", "{'a': 1, 'b': 3}"},
      {"namespace(a=1).a", "1"},
      {"namespace(a=1).b", ""},
      {"strftime_now('%d %b %Y')", "02 Jan 2026"},
      {"strftime_now('%Y-%m-%d %H:%M')", "2026-01-02 00:00"},
      {"raise_exception('boom')", "error: boom"},
      {"strftime_now is defined", "True"},
  });
}

}  // namespace
}  // namespace trireme::chat
