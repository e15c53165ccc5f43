#include "launch/request_json/response_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"

namespace trireme::launch {
namespace {

class ResponseJsonTest : public testing::Test {
 protected:
  nlohmann::ordered_json body(RequestForm form) {
    return response_body(form, {"7", "boat", 1700000000}, request_, choices_, *tokenizer_);
  }
  void SetUp() override {
    request_.prompt = {4, 5, 6};
    scheduler::SampledToken token;
    token.token = 20;
    token.logprob = -0.5f;
    token.top = {{20, -0.5f}, {21, -1.5f}};
    engine::Generation choice;
    choice.tokens = {token, token};
    choice.text = "ab";
    choice.finish_reason = scheduler::FinishReason::kLength;
    choices_ = {choice, choice};
  }

  scheduler::Request request_;
  std::vector<engine::Generation> choices_;
  const std::unique_ptr<checkpoint::Checkpoint> checkpoint_ =
      checkpoint::Checkpoint::open(test::golden_model("llama")).value();
  const std::unique_ptr<tokenizer::Tokenizer> tokenizer_ = tokenizer::Tokenizer::from_checkpoint(*checkpoint_).value();
};

TEST_F(ResponseJsonTest, ACompletionHasTextAndUsage) {
  const auto object = body(RequestForm::kCompletions);
  EXPECT_EQ(object["id"], "cmpl-7");
  EXPECT_EQ(object["object"], "text_completion");
  EXPECT_EQ(object["created"], 1700000000);
  EXPECT_EQ(object["model"], "boat");
  ASSERT_EQ(object["choices"].size(), 2u);
  EXPECT_EQ(object["choices"][1]["index"], 1);
  EXPECT_EQ(object["choices"][1]["text"], "ab");
  EXPECT_EQ(object["choices"][1]["finish_reason"], "length");
  EXPECT_TRUE(object["choices"][1]["logprobs"].is_null());
  EXPECT_EQ(object["usage"],
            nlohmann::ordered_json({{"prompt_tokens", 3}, {"completion_tokens", 4}, {"total_tokens", 7}}));
}

TEST_F(ResponseJsonTest, AChatAnswersWithAMessage) {
  const auto object = body(RequestForm::kChat);
  EXPECT_EQ(object["id"], "chatcmpl-7");
  EXPECT_EQ(object["object"], "chat.completion");
  EXPECT_EQ(object["choices"][0]["message"],
            nlohmann::ordered_json({{"role", "assistant"}, {"content", "ab"}, {"refusal", nullptr}}));
}

TEST_F(ResponseJsonTest, LogprobsHaveTheFormOfTheirEndpoint) {
  request_.sampling.num_logprobs = 2;
  const auto completion = body(RequestForm::kCompletions)["choices"][0]["logprobs"];
  const std::string text = tokenizer_->token_bytes(20);
  EXPECT_EQ(completion["tokens"], nlohmann::ordered_json({text, text}));
  EXPECT_EQ(completion["token_logprobs"], nlohmann::ordered_json({-0.5, -0.5}));
  EXPECT_EQ(completion["top_logprobs"][0][text], -0.5);
  EXPECT_EQ(completion["text_offset"][0], 0);
  const auto chat = body(RequestForm::kChat)["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(chat.size(), 2u);
  EXPECT_EQ(chat[0]["token"], text);
  EXPECT_EQ(chat[0]["bytes"][0], static_cast<unsigned char>(text[0]));
  EXPECT_EQ(chat[0]["top_logprobs"].size(), 2u);
}

TEST_F(ResponseJsonTest, ALogprobIsAmongTheTopOnesAlsoWhereItsTokenIsNot) {
  request_.sampling.num_logprobs = 1;
  for (engine::Generation& choice : choices_) choice.tokens.front().top = {{21, -0.25f}};
  const auto top = body(RequestForm::kCompletions)["choices"][0]["logprobs"]["top_logprobs"][0];
  EXPECT_EQ(top[tokenizer_->token_bytes(20)], -0.5);
  EXPECT_EQ(top[tokenizer_->token_bytes(21)], -0.25);
}

TEST_F(ResponseJsonTest, AnEchoBeginsWithThePromptWhoseFirstTokenHasNoLogprob) {
  request_.sampling.num_logprobs = 1;
  choices_.front().prompt_logprobs = {-1.0f, -2.0f};
  choices_.front().prompt_top = {{{5, -1.0f}}, {{7, -0.5f}}};
  const auto choice = choice_json(RequestForm::kCompletions, request_, choices_.front(), *tokenizer_, Echo::kPrompt);
  EXPECT_EQ(choice["text"], tokenizer_->decode(request_.prompt) + "ab");
  EXPECT_EQ(choice["logprobs"]["token_logprobs"], nlohmann::ordered_json({nullptr, -1.0, -2.0, -0.5, -0.5}));
  EXPECT_TRUE(choice["logprobs"]["top_logprobs"][0].is_null());
  EXPECT_EQ(choice["logprobs"]["top_logprobs"][2].size(), 2u);
}

TEST(ErrorBody, NamesTheField) {
  const auto object = error_body({"top_p", "top_p: is wrong"});
  EXPECT_EQ(object["error"]["param"], "top_p");
  EXPECT_EQ(object["error"]["message"], "top_p: is wrong");
  EXPECT_TRUE(error_body({"", "x"})["error"]["param"].is_null());
}

}  // namespace
}  // namespace trireme::launch
