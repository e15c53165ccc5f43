// How values print. The expected texts are jinja2's.
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

TEST(JinjaValueText, PrintsValuesAsPython) {
  expect_all({
      {"[1, 'a', none, true, 1.5, [2], {'k': 'v'}, (3,)]", "[1, 'a', None, True, 1.5, [2], {'k': 'v'}, (3,)]"},
      {"()", "()"},
      {"{}", "{}"},
      {"{1: 2, none: 3}", "{1: 2, None: 3}"},
      {"true", "True"},
      {"none", "None"},
      {"{'a': 1}.keys()", "dict_keys(['a'])"},
  });
}

TEST(JinjaValueText, QuotesTextInContainers) {
  expect_all({
      {"[\"it's\"]", "[\"it's\"]"},
      {"['say \"x\"']", "['say \"x\"']"},
      {"['both \\' and \"']", "['both \\' and \"']"},
      {"['\\n\\t\\\\\\r']", "['\\n\\t\\\\\\r']"},
      {"['é日本😀']", "['é日本😀']"},
      {"['\\u200b\\x00\\x7f\\u3000\\xa0']", "['\\u200b\\x00\\x7f\\u3000\\xa0']"},
  });
}

TEST(JinjaValueText, PrintsTheShortestFloat) {
  expect_all({
      {"[0.1, 1e16, 1e15, 1e-5, 0.0001, 123456.789, -0.0, 1e300, 5e-324, 1.0]",
       "[0.1, 1e+16, 1000000000000000.0, 1e-05, 0.0001, 123456.789, -0.0, 1e+300, 5e-324, 1.0]"},
  });
}

}  // namespace
}  // namespace trireme::chat
