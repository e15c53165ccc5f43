#include "runtime/checkpoint/bounded_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace trireme::checkpoint {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto result = parse_bounded_json(text, "config.json");
  return result ? "accepted" : result.error().message;
}

std::string nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(BoundedJsonTest, BuildsTheSameDocumentAsThePlainParser) {
  const std::string text =
      R"({"a": [1, -2, 3.5, null, true, "x", [], {}], "b": {"c": {"a": 18446744073709551615}}, "é": "ü"})";
  const auto document = parse_bounded_json(text, "config.json");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(*document, nlohmann::json::parse(text));
}

TEST(BoundedJsonTest, AcceptsScalarsAtTheTop) {
  EXPECT_EQ(*parse_bounded_json(" 3 ", "f"), 3);
}

TEST(BoundedJsonTest, RefusesNestingBeyondTheLimit) {
  EXPECT_EQ(error_of(nested(kMaxJsonDepth)), "accepted");
  EXPECT_EQ(error_of(nested(kMaxJsonDepth + 1)), "config.json: JSON is nested too deeply");
  EXPECT_EQ(error_of(std::string(1'000'000, '[')), "config.json: JSON is nested too deeply");
}

TEST(BoundedJsonTest, RefusesDuplicateKeysOfOneObjectOnly) {
  EXPECT_EQ(error_of(R"({"a": 1, "b": {"a": 2, "a": 3}})"), "config.json: duplicate key 'a'");
  EXPECT_EQ(error_of(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]})"), "accepted");
}

TEST(BoundedJsonTest, RefusesWhatIsNotJson) {
  for (const std::string_view text :
       {"", "{", "{]", "{} x", "{\"a\": 1e999}", "{\"a\": NaN}", "{\"a\xff\": 1}", "{\"a\": \"\\ud800\"}"}) {
    EXPECT_THAT(error_of(text), HasSubstr("config.json: not valid JSON at byte")) << text;
  }
  EXPECT_EQ(error_of(std::string_view("{}\0{}", 5)), "config.json: NUL byte in JSON");
}

TEST(BoundedJsonTest, KeepsTheMessageShortAndOnOneLine) {
  const std::string key = std::string(100'000, 'k') + "\\n";
  const std::string message = error_of("{\"" + key + "\": 1, \"" + key + "\": 2}");
  EXPECT_LT(message.size(), 200u);
  EXPECT_EQ(error_of("{\"a\\nb\": 1, \"a\\nb\": 2}"), "config.json: duplicate key 'a\\x0ab'");
  EXPECT_LT(error_of("[\"" + std::string(100'000, 'v')).size(), 200u);
}

}  // namespace
}  // namespace trireme::checkpoint
