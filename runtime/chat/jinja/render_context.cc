#include "runtime/chat/jinja/render_context.h"

#include <limits>

#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

constexpr std::size_t kBytesPerStep = 256;

[[noreturn]] void fail_limit(const std::string& message) {
  throw TemplateError(TemplateError::Kind::kLimit, message);
}

template <typename T>
T* keep(std::vector<std::unique_ptr<T>>& owners, std::unique_ptr<T> value) {
  owners.push_back(std::move(value));
  return owners.back().get();
}

}  // namespace

void RenderContext::charge(std::size_t num_steps) {
  const auto left = static_cast<std::size_t>(limits_.max_steps - steps_);
  if (num_steps > left) fail_limit("the chat template takes more than " + std::to_string(limits_.max_steps) + " steps");
  steps_ += static_cast<std::int64_t>(num_steps);
}

void RenderContext::charge_bytes(std::size_t num_bytes) {
  charge(num_bytes / kBytesPerStep);
}

void RenderContext::check_text_size(std::size_t num_bytes) const {
  if (num_bytes <= limits_.max_output_bytes) return;
  fail_limit("the chat template makes a text of more than " + std::to_string(limits_.max_output_bytes) + " bytes");
}

Value RenderContext::text(std::string text) {
  check_text_size(text.size());
  charge_bytes(text.size());
  return Value(std::make_shared<const std::string>(std::move(text)));
}

List* RenderContext::list(List::Kind kind, std::vector<Value> items) {
  charge(items.size());
  return keep(lists_, std::make_unique<List>(List{kind, std::move(items)}));
}

Dict* RenderContext::dict(Dict::Kind kind) {
  Dict* made = keep(dicts_, std::make_unique<Dict>());
  made->kind = kind;
  return made;
}

Loop* RenderContext::loop() {
  return keep(loops_, std::make_unique<Loop>());
}

const Callable* RenderContext::callable(std::unique_ptr<Callable> callable) {
  return keep(callables_, std::move(callable));
}

DepthGuard::DepthGuard(RenderContext& context) : context_(context) {
  if (context.depth_ >= context.limits_.max_depth) {
    fail_limit("the chat template nests deeper than " + std::to_string(context.limits_.max_depth));
  }
  ++context.depth_;
}

void TextBuilder::append(std::string_view part) {
  context_.check_text_size(text_.size() + part.size());
  text_ += part;
}

void TextBuilder::fill(std::int64_t count, std::string_view part) {
  if (count <= 0 || part.empty()) return;
  const std::size_t available = std::numeric_limits<std::size_t>::max() / 2 - text_.size();
  const auto times = static_cast<std::size_t>(count);
  context_.check_text_size(times > available / part.size() ? available : text_.size() + times * part.size());
  context_.charge_bytes(times * part.size());
  for (std::size_t i = 0; i < times; ++i) text_ += part;
}

}  // namespace trireme::chat::jinja
