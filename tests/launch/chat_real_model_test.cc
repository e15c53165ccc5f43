// The chat template that a real GGUF file brings, from messages to tokens. Runs where TRIREME_TEST_MODELS names the
// folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "launch/chat_prompt.h"

namespace trireme::launch {
namespace {

TEST(ChatRealModel, RendersEveryGoldenConversation) {
  const char* folder = std::getenv("TRIREME_TEST_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "TRIREME_TEST_MODELS is not set; tests/run.sh fetches the models and sets it";
  const auto path = std::filesystem::path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf";
  const auto checkpoint = checkpoint::Checkpoint::open(path).value();
  const auto tokenizer = tokenizer::Tokenizer::from_checkpoint(*checkpoint).value();
  const auto chat = ChatPrompt::from_checkpoint(*checkpoint, *tokenizer).value();
  std::ifstream file(std::filesystem::path(TRIREME_TEST_DATA) / "golden" / "smollm2-chat.json");
  const auto golden = nlohmann::json::parse(file);
  int compared = 0;
  for (const auto& entry : golden.at("cases")) {
    if (!entry.at("add_generation_prompt").get<bool>()) continue;
    std::vector<ChatMessage> messages;
    for (const auto& message : entry.at("messages")) messages.push_back({message.at("role"), message.at("content")});
    const auto tokens = chat.tokens(messages).value();
    EXPECT_EQ(tokenizer->decode(tokens), entry.at("text").get<std::string>());
    EXPECT_EQ(tokens, tokenizer->encode(entry.at("text").get<std::string>()).value());
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace trireme::launch
