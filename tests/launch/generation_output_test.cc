#include "launch/generation_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

engine::Generation generation(const std::string& text, std::vector<std::int32_t> ids) {
  engine::Generation result;
  result.text = text;
  for (const std::int32_t id : ids) {
    scheduler::SampledToken token;
    token.token = id;
    token.logprob = -0.5f;
    token.top = {{id, -0.5f}};
    result.tokens.push_back(token);
  }
  result.prompt_logprobs = {-1.0f, -2.0f};
  result.finish_reason = scheduler::FinishReason::kLength;
  return result;
}

scheduler::Request request() {
  scheduler::Request request;
  request.prompt = {4, 5, 6};
  request.sampling.num_logprobs = 1;
  request.prompt_logprobs = true;
  return request;
}

TEST(GenerationOutput, OneChoiceStandsForItself) {
  const auto object = nlohmann::json::parse(generation_json(request(), {generation("ab", {1, 2})}, {}));
  EXPECT_EQ(object["text"], "ab");
  EXPECT_EQ(object["token_ids"], nlohmann::json({1, 2}));
  EXPECT_EQ(object["prompt_token_ids"], nlohmann::json({4, 5, 6}));
  EXPECT_EQ(object["finish_reason"], "length");
  EXPECT_EQ(object["token_logprobs"], nlohmann::json({-0.5, -0.5}));
  EXPECT_EQ(object["top_logprobs"][1][0]["id"], 2);
  EXPECT_EQ(object["prompt_logprobs"], nlohmann::json({nullptr, -1.0, -2.0}));
  EXPECT_EQ(object["usage"]["total_tokens"], 5);
  EXPECT_TRUE(object["timing"].contains("total_s"));
}

TEST(GenerationOutput, SeveralChoicesAreLists) {
  const auto object =
      nlohmann::json::parse(generation_json(request(), {generation("a", {1}), generation("b", {2})}, {}));
  EXPECT_EQ(object["text"], nlohmann::json({"a", "b"}));
  EXPECT_EQ(object["finish_reason"], nlohmann::json({"length", "length"}));
  EXPECT_EQ(object["usage"]["completion_tokens"], 2);
}

TEST(GenerationOutput, TextThatIsNoUtf8DoesNotBreakTheObject) {
  EXPECT_NO_THROW(nlohmann::json::parse(generation_json(request(), {generation("\xff", {1})}, {})));
}

}  // namespace
}  // namespace trireme::launch
