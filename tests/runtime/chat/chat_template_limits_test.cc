// Hostile templates and messages end with an error, soon and without much memory.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runtime/chat/chat_template.h"
#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

base::Result<std::string> try_render(const std::string& source, const RenderLimits& limits = {},
                                     const nlohmann::ordered_json& context = nlohmann::ordered_json::object()) {
  auto parsed = ChatTemplate::parse(source);
  if (!parsed.ok()) return parsed.error();
  return parsed->render(context, limits);
}

void expect_limit(const std::string& source, const std::string& message,
                  const nlohmann::ordered_json& context = nlohmann::ordered_json::object()) {
  const auto result = try_render(source, {}, context);
  ASSERT_FALSE(result.ok()) << source;
  EXPECT_EQ(result.error().code, base::ErrorCode::kResourceExhausted) << source << ": " << result.error().message;
  EXPECT_NE(result.error().message.find(message), std::string::npos) << source << ": " << result.error().message;
}

TEST(ChatTemplateLimits, StopALoopOverAHugeRangeBeforeItIsMade) {
  expect_limit("{% for i in range(1000000000000) %}{% endfor %}", "steps");
  expect_limit("{% for i in range(-9223372036854775807, 9223372036854775807) %}{% endfor %}", "steps");
  expect_limit("{{ range(2000000) | length }}", "steps");
}

TEST(ChatTemplateLimits, StopALongLoop) {
  expect_limit("{% for i in range(1000) %}{% for j in range(1000) %}x{% endfor %}{% endfor %}", "steps");
  expect_limit("{% macro f() %}{% for i in range(9) %}{{ f() }}{% endfor %}{% endmacro %}{{ f() }}", "");
}

TEST(ChatTemplateLimits, StopEndlessRecursion) {
  expect_limit("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "nests deeper than 200");
}

TEST(ChatTemplateLimits, StopHugeOutput) {
  expect_limit("{% for i in range(100000) %}{{ s }}{% endfor %}", "bytes", {{"s", std::string(1000, 'x')}});
  expect_limit("{% set x %}{% for i in range(100000) %}{{ s }}{% endfor %}{% endset %}", "bytes",
               {{"s", std::string(1000, 'x')}});
}

TEST(ChatTemplateLimits, StopTextThatGrowsByDoubling) {
  expect_limit("{% set ns = namespace(s='x') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
               "bytes");
  expect_limit("{% set ns = namespace(s='x') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
               "bytes");
  expect_limit("{% set ns = namespace(s=[1]) %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
               "steps");
  expect_limit(
      "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}", "");
}

TEST(ChatTemplateLimits, CheckSizesBeforeAllocating) {
  expect_limit("{{ 'x' * 1000000000000 }}", "bytes");
  expect_limit("{{ 'xy' * 9223372036854775807 }}", "bytes");
  expect_limit("{{ [1] * 1000000000000 }}", "steps");
  expect_limit("{{ [1, 2, 3] * 9223372036854775807 }}", "steps");
  expect_limit("{{ '%1000000000s' | format('x') }}", "bytes");
  expect_limit("{{ 'x'.ljust(1000000000) }}", "bytes");
  expect_limit("{{ 'x'.zfill(1000000000) }}", "bytes");
  expect_limit("{{ 'x' | center(1000000000) }}", "bytes");
  expect_limit("{{ 'x' | indent(1000000000) }}", "bytes");
  expect_limit("{{ [1] | tojson(indent=1000000000) }}", "bytes");
  expect_limit("{{ s.replace('a', s) }}", "bytes", {{"s", std::string(100000, 'a')}});
  expect_limit("{{ [1] | batch(1000000000000, 0) | list }}", "steps");
}

TEST(ChatTemplateLimits, ChargeForLookingThroughLongText) {
  const nlohmann::ordered_json context = {{"s", std::string(1 << 20, 'a')}, {"t", std::string(1 << 19, 'a')}};
  RenderLimits limits;
  limits.max_steps = 50'000;
  for (const std::string look :
       {"s | length", "s | int", "s is upper", "s.rfind(t)", "s.rsplit(t, 1)", "s.strip(s)", "s in s + 'b'", "s == s",
        "d[s]", "s.split(t) | length", "s.find(t + 'b')", "s | title", "s.isalpha()", "s.startswith(t, 1)", "s[5]"}) {
    const auto result =
        try_render("{% set d = {} %}{% for i in range(9000) %}{% set x = " + look + " %}{% endfor %}", limits, context);
    ASSERT_FALSE(result.ok()) << look;
    EXPECT_EQ(result.error().code, base::ErrorCode::kResourceExhausted) << look << ": " << result.error().message;
  }
}

TEST(ChatTemplateLimits, SurviveKeysThatAreNestedWithoutEnd) {
  RenderLimits limits;
  limits.max_steps = 20'000'000;
  const std::string source =
      "{% set ns = namespace(x=[]) %}{% for i in range(300000) %}{% set ns.x = (ns.x,) %}{% endfor %}"
      "{% set d = {ns.x: 1} %}{{ d[ns.x] }}{{ d.get((ns.x,)) }}";
  EXPECT_EQ(*try_render(source, limits), "1None");
}

TEST(ChatTemplateLimits, StopDeepNesting) {
  expect_limit("{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
               "nests deeper");
  expect_limit("{% set x = [] %}{% set _ = x.append(x) %}{{ x | tojson }}", "nests deeper");
  expect_limit("{% set x = [] %}{% set _ = x.append(x) %}{{ x == [x] }}", "nests deeper");
  nlohmann::ordered_json deep = nlohmann::ordered_json::array();
  for (int i = 0; i < 300; ++i) deep = nlohmann::ordered_json::array({deep});
  expect_limit("", "nests deeper", {{"x", deep}});
}

TEST(ChatTemplateLimits, FreeValuesThatAreNestedAMillionDeep) {
  RenderLimits limits;
  limits.max_steps = 20'000'000;
  const std::string source =
      "{% set ns = namespace(x=[]) %}{% for i in range(1000000) %}{% set ns.x = [ns.x] %}{% endfor %}ok";
  EXPECT_EQ(*try_render(source, limits), "ok");
}

TEST(ChatTemplateLimits, RefuseSourceThatNestsTooDeep) {
  const auto repeated = [](const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  for (const std::string& source :
       {"{{ " + repeated("(", 100000) + "1" + repeated(")", 100000) + " }}",
        "{{ " + repeated("[", 100000) + repeated("]", 100000) + " }}", "{{ " + repeated("not ", 100000) + "1 }}",
        "{{ " + repeated("-", 100000) + "1 }}", "{{ 1" + repeated(" + 1", 100000) + " }}",
        "{{ x" + repeated(".a", 100000) + " }}", "{{ x" + repeated("|string", 100000) + " }}",
        repeated("{% if 1 %}", 100000), "{% set " + repeated("(", 100000) + "a" + repeated(")", 100000) + " %}",
        "{{ 1" + repeated(" if 1 else 1", 100000) + " }}"}) {
    const auto parsed = ChatTemplate::parse(source);
    ASSERT_FALSE(parsed.ok()) << source.substr(0, 40);
    EXPECT_NE(parsed.error().message.find("too deep"), std::string::npos) << parsed.error().message;
  }
}

TEST(ChatTemplateLimits, LeaveAnOrdinaryLongConversationAlone) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (int i = 0; i < 2000; ++i) {
    messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", std::string(4000, 'x')}});
  }
  const auto text = try_render(
      "{% for m in messages %}{% if m.role == 'user' %}{{ '[I] ' + m.content | trim + ' [/I]' }}{% else %}"
      "{{ m.content.strip() + eos }}{% endif %}{% endfor %}",
      {}, {{"messages", messages}, {"eos", "</s>"}});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->size(), 1000U * (4000 + 9) + 1000U * (4000 + 4));
}

TEST(ChatTemplateLimits, AreCountedPerRenderingOnAnyThread) {
  const auto parsed = ChatTemplate::parse("{% for i in range(100) %}{{ x }}{% endfor %}");
  ASSERT_TRUE(parsed.ok());
  RenderLimits limits;
  limits.max_steps = 1000;
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] { texts[i] = *parsed->render({{"x", i}}, limits); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::string(100, static_cast<char>('0' + i)));
}

TEST(ChatTemplateErrors, NameLineAndCauseOfASyntaxError) {
  EXPECT_EQ(render("a\n{% if x %}\n{{ y | }}"),
            "error: chat template: line 3: expected a name, got end of print statement");
}

TEST(ChatTemplateErrors, UnknownFiltersAndTestsAreFoundAtLoad) {
  for (const std::string source : {"{% for m in messages %}{{ m | nope }}{% endfor %}", "{% set x = 1 is nope %}",
                                   "{% filter nope %}a{% endfilter %}", "{% set x | nope %}a{% endset %}"}) {
    const auto parsed = ChatTemplate::parse(source);
    ASSERT_FALSE(parsed.ok()) << source;
    EXPECT_NE(parsed.error().message.find("named 'nope'"), std::string::npos) << parsed.error().message;
  }
}

TEST(ChatTemplateErrors, UnknownFiltersBehindAConditionFailWhereTheyAreReached) {
  for (const std::string source : {"{% if x %}{{ 1 | nope }}{% endif %}", "{{ 1 | nope if x else 2 }}",
                                   "{% if x %}{% elif y is nope %}{% else %}{{ 1 is nope }}{% endif %}"}) {
    EXPECT_TRUE(ChatTemplate::parse(source).ok()) << source;
  }
  EXPECT_EQ(render("{% if true %}{{ 1 | nope }}{% endif %}"), "error: No filter named 'nope'.");
  EXPECT_EQ(render("{{ 1 | nope if false else 2 }}"), "2");
}

TEST(ChatTemplateErrors, AreInvalidArguments) {
  for (const std::string source : {"{{", "{{ raise_exception('no') }}", "{{ nope.x }}", "{{ 1 // 0 }}"}) {
    const auto result = try_render(source);
    ASSERT_FALSE(result.ok()) << source;
    EXPECT_EQ(result.error().code, base::ErrorCode::kInvalidArgument) << source;
  }
}

}  // namespace
}  // namespace trireme::chat
