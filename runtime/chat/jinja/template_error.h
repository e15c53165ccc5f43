// TemplateError: the one exception of the template engine. ChatTemplate turns it into a Result.
#pragma once

#include <stdexcept>
#include <string>

namespace trireme::chat::jinja {

class TemplateError : public std::runtime_error {
 public:
  enum class Kind { kSyntax, kRuntime, kLimit };

  TemplateError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// A fault of the template or its data while rendering; the text is what jinja2 or Python says, where they are terse.
[[noreturn]] inline void fail(const std::string& message) {
  throw TemplateError(TemplateError::Kind::kRuntime, message);
}

[[noreturn]] inline void fail_syntax(const std::string& message, int line) {
  throw TemplateError(TemplateError::Kind::kSyntax, "line " + std::to_string(line) + ": " + message);
}

}  // namespace trireme::chat::jinja
