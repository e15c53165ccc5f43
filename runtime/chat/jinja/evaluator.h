// Evaluator: walks the syntax tree, yields values and appends text. One per rendering, one thread.
#pragma once

#include <string>

#include "runtime/chat/jinja/ast.h"
#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/scope.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

class Evaluator {
 public:
  // How a body ended: by itself, or by break or continue, which the innermost loop takes.
  enum class Flow { kNext, kBreak, kContinue };

  explicit Evaluator(RenderContext& context) : context_(context) {}

  // Throws TemplateError.
  Flow execute(const Body& body, const ScopePtr& scope, std::string& out);
  Value evaluate(const Expression& expression, Scope& scope);

  // The text of a macro's body with its parameters set from `arguments`.
  Value call_macro(const MacroDefinition& macro, const ScopePtr& closure, const Arguments& arguments);

 private:
  // Statements (evaluator_statements.cc).
  struct StatementVisitor;
  Flow execute_for(const ForStatement& statement, const ScopePtr& scope, std::string& out);
  std::vector<Value> loop_items(const ForStatement& statement, const ScopePtr& scope);
  Flow execute_if(const IfStatement& statement, const ScopePtr& scope, std::string& out);
  void execute_capture(const CaptureStatement& statement, const ScopePtr& scope, std::string& out);
  void execute_call_block(const CallBlockStatement& statement, const ScopePtr& scope, std::string& out);
  void append(std::string_view text, std::string& out);
  void assign(const Target& target, const Value& value, Scope& scope);

  // Macros (macro_call.cc).
  const Callable* macro_value(const MacroDefinition& macro, const ScopePtr& scope);

  // Expressions (evaluator_expressions.cc).
  struct ExpressionVisitor;
  Value call(const CallExpression& expression, Scope& scope, const Value* caller = nullptr);
  Arguments evaluate_arguments(const CallArguments& arguments, Scope& scope, const Value* first = nullptr);
  Value call_value(const Value& callee, const Arguments& arguments);

  RenderContext& context_;
};

}  // namespace trireme::chat::jinja
