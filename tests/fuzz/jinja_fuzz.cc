// A chat template, rendered over a conversation with tools, within a small budget.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/chat/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace chat = trireme::chat;
  const auto chat_template = chat::ChatTemplate::parse({reinterpret_cast<const char*>(data), size});
  if (!chat_template) return 0;
  static const auto kContext = nlohmann::ordered_json::parse(R"({
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a keel? <b>"},
                 {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"x": [1, 2.5, true]}}}]}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})");
  chat::RenderLimits limits;
  limits.max_steps = 100'000;
  limits.max_output_bytes = 1 << 20;
  static_cast<void>(chat_template->render(kContext, limits));
  return 0;
}
