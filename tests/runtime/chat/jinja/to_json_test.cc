// The filter tojson as transformers defines it. The expected texts are jinja2's.
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

TEST(JinjaToJson, WritesAsJsonDumps) {
  expect_all({
      {"{'b': 1, 'a': [1.5, none, true, 'x']} | tojson", "{\"b\": 1, \"a\": [1.5, null, true, \"x\"]}"},
      {"[] | tojson", "[]"},
      {"{} | tojson", "{}"},
      {"(1, 2) | tojson", "[1, 2]"},
      {"{1: 2, none: 1, 1.5: 2} | tojson", "{\"1\": 2, \"null\": 1, \"1.5\": 2}"},
      {"1e16 | tojson", "1e+16"},
      {"'a' | tojson", "\"a\""},
  });
}

TEST(JinjaToJson, KeepsOtherLettersAndMarkup) {
  expect_all({
      {"'<>&\\' é日😀\\u2028' | tojson", "\"<>&' é日😀\342\200\250\""},
      {"'😀é' | tojson(ensure_ascii=true)", "\"\\ud83d\\ude00\\u00e9\""},
      {"'\"\\\\\\n\\t\\r\\x08\\x0c\\x07\\x7f' | tojson", "\"\\\"\\\\\\n\\t\\r\\b\\f\\u0007\177\""},
  });
}

TEST(JinjaToJson, Indents) {
  expect_all({
      {"{'a': [1, {'b': 2}], 'c': {}, 'd': []} | tojson(indent=2)",
       "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}"},
      {"[1] | tojson(indent=none)", "[1]"},
      {"[1, 2] | tojson(indent=0)", "[\n1,\n2\n]"},
  });
}

TEST(JinjaToJson, TakesSeparatorsAndSorts) {
  expect_all({
      {"{'b': 1, 'a': 2} | tojson(separators=(',', ':'))", "{\"b\":1,\"a\":2}"},
      {"{'b': 1, 'a': 2} | tojson(sort_keys=true)", "{\"a\": 2, \"b\": 1}"},
      {"{'b': 1} | tojson(indent=1, separators=(', ', '='))", "{\n \"b\"=1\n}"},
  });
}

TEST(JinjaToJson, RefusesWhatIsNoJson) {
  expect_all({
      {"nope | tojson", "error: Object of type Undefined is not JSON serializable"},
      {"range(3) | tojson", "error: Object of type range is not JSON serializable"},
      {"{(1, 2): 3} | tojson", "error: keys must be str, int, float, bool or None, not tuple"},
  });
}

}  // namespace
}  // namespace trireme::chat
