#include "runtime/chat/chat_template.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/chat/jinja/evaluator.h"
#include "runtime/chat/jinja/json_text.h"
#include "runtime/chat/jinja/parser.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat {
namespace {

base::Error to_error(const jinja::TemplateError& error) {
  switch (error.kind()) {
    case jinja::TemplateError::Kind::kSyntax:
      return base::invalid_argument("chat template: " + std::string(error.what()));
    case jinja::TemplateError::Kind::kLimit: return base::resource_exhausted(error.what());
    case jinja::TemplateError::Kind::kRuntime: break;
  }
  return base::invalid_argument(error.what());
}

}  // namespace

struct ChatTemplate::Impl {
  jinja::Body body;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

base::Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  try {
    return ChatTemplate(std::make_unique<Impl>(Impl{jinja::parse_template(source)}));
  } catch (const jinja::TemplateError& error) {
    return to_error(error);
  }
}

base::Result<std::string> ChatTemplate::render(const nlohmann::ordered_json& context,
                                               const RenderLimits& limits) const {
  TRIREME_CHECK(context.is_object()) << "the context of a chat template is an object";
  try {
    jinja::RenderContext render_context(limits);
    const auto scope = std::make_shared<jinja::Scope>(nullptr);
    for (const auto& [name, value] : context.items()) scope->set(name, jinja::from_json(render_context, value));
    std::string text;
    jinja::Evaluator(render_context).execute(impl_->body, scope, text);
    return text;
  } catch (const jinja::TemplateError& error) {
    return to_error(error);
  }
}

}  // namespace trireme::chat
