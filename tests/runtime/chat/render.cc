#include "tests/runtime/chat/render.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "runtime/chat/chat_template.h"

namespace trireme::chat {

std::string render(std::string_view source, std::string_view context) {
  RenderLimits limits;
  limits.now = std::chrono::local_days{std::chrono::year{2026} / 1 / 2};
  const auto parsed = ChatTemplate::parse(source);
  if (!parsed.ok()) return "error: " + parsed.error().message;
  const auto text = parsed->render(nlohmann::ordered_json::parse(context), limits);
  return text.ok() ? *text : "error: " + text.error().message;
}

std::string evaluate(std::string_view expression, std::string_view context) {
  return render("{{ " + std::string(expression) + " }}", context);
}

}  // namespace trireme::chat
