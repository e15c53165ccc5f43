#include "launch/request_json/parse_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

using nlohmann::json;

std::variant<ParsedRequest, RequestError> parse(const std::string& text, RequestForm form = RequestForm::kPlain) {
  return parse_request(json::parse(text), form, default_spec(form));
}

// The field that is named as wrong; "accepted" if none is.
std::string wrong_field(const std::string& text, RequestForm form = RequestForm::kPlain) {
  const auto parsed = parse(text, form);
  const auto* error = std::get_if<RequestError>(&parsed);
  return error == nullptr ? "accepted" : error->field;
}

RequestSpec spec_of(const std::string& text, RequestForm form = RequestForm::kPlain) {
  return std::get<ParsedRequest>(parse(text, form)).spec;
}

TEST(ParseRequest, TheChatTemplateGetsItsVariables) {
  EXPECT_EQ(spec_of(R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": {"a": false}})",
                    RequestForm::kChat)
                .template_variables,
            R"({"a":false})");
  EXPECT_EQ(wrong_field(R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": [1]})",
                        RequestForm::kChat),
            "chat_template_kwargs");
}

struct FieldCase {
  const char* field;
  std::vector<const char*> good, bad;
};

TEST(ParseRequest, FieldsHaveExactTypesAndRanges) {
  const std::vector<FieldCase> cases = {
      {"max_tokens",
       {"0", "1", "2147483647"},
       {"-1", "2147483648", "18446744073709551616", "3.9", "\"5\"", "null", "true"}},
      {"n", {"1", "1024"}, {"0", "1025", "1000000", "null", "1.0"}},
      {"min_tokens", {"0", "7"}, {"-1", "null"}},
      {"temperature", {"0", "1e-12", "0.5", "null"}, {"-1", "1e30", "\"1\"", "false"}},
      {"top_p", {"1", "0.5", "null"}, {"0", "-0.1", "1.1"}},
      {"top_k", {"-1", "0", "40"}, {"-2", "1.5", "4294967297"}},
      {"min_p", {"0", "1"}, {"-0.1", "2"}},
      {"repetition_penalty", {"1.1"}, {"0", "-1", "1e9"}},
      {"presence_penalty", {"-2", "2", "null"}, {"2.1"}},
      {"seed", {"0", "18446744073709551615", "null"}, {"-1", "18446744073709551616", "1.5", "\"1\""}},
      {"logprobs", {"0", "256", "null"}, {"-1", "1000000000", "true"}},
      {"stop", {"\"a\"", "[\"a\", \"b\"]", "[]", "null"}, {"\"\"", "[\"\"]", "5", "[5]", "{}"}},
      {"stop_token_ids", {"[1, 2]", "[]"}, {"[-1]", "[1099511627776]", "5", "[\"1\"]"}},
      {"logit_bias",
       {"{\"5\": 1.5}", "null"},
       {"{\"a\": 1}", "{\"-1\": 1}", "{\"5\": 101}", "{\"5\": \"1\"}", "[1]", "{\"99999999999\": 1}"}},
      {"ignore_eos", {"true", "false"}, {"1", "\"true\""}},
      {"prompt_logprobs", {"true"}, {"1"}},
      {"priority", {"-3", "3"}, {"2147483648"}}};
  for (const FieldCase& field : cases) {
    const auto request = [&](const char* value) {
      return std::string("{\"prompt\": \"x\", \"") + field.field + "\": " + value + "}";
    };
    for (const char* value : field.good) EXPECT_EQ(wrong_field(request(value)), "accepted") << request(value);
    for (const char* value : field.bad) EXPECT_EQ(wrong_field(request(value)), field.field) << request(value);
  }
}

TEST(ParseRequest, ListsAreBoundedBeforeTheyAreTaken) {
  json request = {{"prompt", "x"}};
  request["stop"] = std::vector<std::string>(500000, "a");
  EXPECT_EQ(wrong_field(request.dump()), "stop");
  request.erase("stop");
  for (int id = 0; id < 5000; ++id) request["logit_bias"][std::to_string(id)] = 1;
  EXPECT_EQ(wrong_field(request.dump()), "logit_bias");
}

TEST(ParseRequest, OneKindOfPromptIsNeeded) {
  EXPECT_EQ(wrong_field("{}"), "prompt");
  EXPECT_EQ(wrong_field("[]"), "");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "prompt_ids": [1]})"), "prompt");
  EXPECT_EQ(wrong_field(R"({"prompt": null})"), "prompt");
  EXPECT_EQ(wrong_field(R"({"prompt": [1, 2]})"), "prompt");
  EXPECT_EQ(wrong_field(R"({"prompt_ids": []})"), "prompt_ids");
  EXPECT_EQ(wrong_field(R"({"prompt_ids": [1.5]})"), "prompt_ids");
  EXPECT_EQ(wrong_field(R"({"prompt_ids": [1099511627776]})"), "prompt_ids");
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(spec_of(R"({"prompt_ids": [5, -1]})").prompt),
            (std::vector<std::int32_t>{5, -1}));
  EXPECT_EQ(std::get<std::string>(spec_of(R"({"prompt": ""})").prompt), "");
}

TEST(ParseRequest, MessagesAreTexts) {
  const auto spec = spec_of(
      R"({"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]}]})");
  const auto& messages = std::get<std::vector<ChatMessage>>(spec.prompt);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[1].content, "bc");
  EXPECT_EQ(wrong_field(R"({"messages": []})"), "messages");
  EXPECT_EQ(wrong_field(R"({"messages": ["x"]})"), "messages[0]");
  EXPECT_EQ(wrong_field(R"({"messages": [{"role": "user", "content": null}]})"), "messages[0].content");
  EXPECT_EQ(wrong_field(R"({"messages": [{"content": "x"}]})"), "messages[0].role");
  EXPECT_EQ(wrong_field(R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
            "messages[0].content");
}

TEST(ParseRequest, CompletionsTakeListsOfPrompts) {
  const auto parsed = std::get<ParsedRequest>(parse(R"({"prompt": ["a", [1, 2]]})", RequestForm::kCompletions));
  EXPECT_EQ(std::get<std::string>(parsed.spec.prompt), "a");
  ASSERT_EQ(parsed.more_prompts.size(), 1u);
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(parsed.more_prompts[0]), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(wrong_field(R"({"prompt": ["a", 1]})", RequestForm::kCompletions), "prompt");
  EXPECT_EQ(wrong_field(R"({"prompt": []})", RequestForm::kCompletions), "prompt");
}

TEST(ParseRequest, FormsHaveTheDefaultsOfTheirOrigin) {
  const RequestSpec completion = spec_of(R"({"prompt": "x"})", RequestForm::kCompletions);
  EXPECT_EQ(completion.max_tokens, 16);
  EXPECT_EQ(completion.sampling.temperature, 1.0f);
  const RequestSpec chat = spec_of(R"({"messages": [{"role": "user", "content": "x"}]})", RequestForm::kChat);
  EXPECT_EQ(chat.max_tokens, std::nullopt);
  EXPECT_EQ(spec_of(R"({"messages": [{"role": "user", "content": "x"}], "max_tokens": 3, "max_completion_tokens": 4})",
                    RequestForm::kChat)
                .max_tokens,
            4);
}

TEST(ParseRequest, ChatLogprobsAreASwitchAndANumber) {
  const auto chat = [](const std::string& rest) {
    return R"({"messages": [{"role": "user", "content": "x"}])" + rest + "}";
  };
  EXPECT_EQ(spec_of(chat(R"(, "logprobs": true, "top_logprobs": 3)"), RequestForm::kChat).sampling.num_logprobs, 3);
  EXPECT_EQ(spec_of(chat(R"(, "logprobs": true)"), RequestForm::kChat).sampling.num_logprobs, 0);
  EXPECT_EQ(spec_of(chat(R"(, "logprobs": false)"), RequestForm::kChat).sampling.num_logprobs, -1);
  EXPECT_EQ(wrong_field(chat(R"(, "logprobs": 3)"), RequestForm::kChat), "logprobs");
  EXPECT_EQ(wrong_field(chat(R"(, "top_logprobs": 3)"), RequestForm::kChat), "top_logprobs");
  EXPECT_EQ(wrong_field(chat(R"(, "logprobs": true, "top_logprobs": 21)"), RequestForm::kChat), "top_logprobs");
}

TEST(ParseRequest, WhatIsNotDoneIsRefusedAndWhatIsUnknownIsNamed) {
  EXPECT_EQ(wrong_field(R"({"messages": [{"role": "user", "content": "x"}], "tools": [{}]})", RequestForm::kChat),
            "tools");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "suffix": "y"})", RequestForm::kCompletions), "suffix");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "echo": false, "best_of": 1, "suffix": null})", RequestForm::kCompletions),
            "accepted");
  EXPECT_EQ(wrong_field(R"({"prompt": "x", "response_format": {"type": "json_object"}})", RequestForm::kCompletions),
            "response_format");
  const auto parsed =
      std::get<ParsedRequest>(parse(R"({"prompt": "x", "max_token": 5, "user": "u"})", RequestForm::kCompletions));
  EXPECT_EQ(parsed.unknown_fields, (std::vector<std::string>{"max_token"}));
}

}  // namespace
}  // namespace trireme::launch
