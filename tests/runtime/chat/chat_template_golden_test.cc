// Conversations rendered by jinja2 as transformers sets it up, and by a real model's template.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/runtime/chat/render.h"

namespace trireme::chat {
namespace {

nlohmann::ordered_json read_golden(const std::string& name) {
  std::ifstream file(std::string(TRIREME_TEST_DATA) + "/golden/" + name);
  return nlohmann::ordered_json::parse(file);
}

TEST(ChatTemplateGolden, RendersEveryCaseAsJinja2Does) {
  const auto golden = read_golden("chat-templates.json");
  ASSERT_EQ(golden["cases"].size(), 148U);
  for (const auto& entry : golden["cases"]) {
    const auto name = entry["template"].get<std::string>();
    const std::string expected =
        entry.contains("text") ? entry["text"].get<std::string>() : "error: " + entry["error"].get<std::string>();
    EXPECT_EQ(render(golden["templates"][name].get<std::string>(), entry["context"].dump()), expected)
        << name << " on " << entry["conversation"];
  }
}

TEST(ChatTemplateGolden, RendersTheTemplateOfSmolLm2) {
  const auto golden = read_golden("smollm2-chat.json");
  ASSERT_FALSE(golden["cases"].empty());
  for (const auto& entry : golden["cases"]) {
    const nlohmann::ordered_json context = {{"messages", entry["messages"]},
                                            {"add_generation_prompt", entry["add_generation_prompt"]},
                                            {"bos_token", golden["bos_token"]},
                                            {"eos_token", golden["eos_token"]}};
    EXPECT_EQ(render(golden["template"].get<std::string>(), context.dump()), entry["text"].get<std::string>());
  }
}

}  // namespace
}  // namespace trireme::chat
