#include "runtime/chat/jinja/evaluator.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {

struct Evaluator::StatementVisitor {
  Evaluator& evaluator;
  const ScopePtr& scope;
  std::string& out;

  Flow operator()(const DataStatement& statement) const {
    evaluator.append(statement.text, out);
    return Flow::kNext;
  }
  Flow operator()(const OutputStatement& statement) const {
    evaluator.append(to_text(evaluator.context_, evaluator.evaluate(*statement.value, *scope)), out);
    return Flow::kNext;
  }
  Flow operator()(const IfStatement& statement) const { return evaluator.execute_if(statement, scope, out); }
  Flow operator()(const ForStatement& statement) const { return evaluator.execute_for(statement, scope, out); }
  Flow operator()(const SetStatement& statement) const {
    evaluator.assign(statement.target, evaluator.evaluate(*statement.value, *scope), *scope);
    return Flow::kNext;
  }
  Flow operator()(const CaptureStatement& statement) const {
    evaluator.execute_capture(statement, scope, out);
    return Flow::kNext;
  }
  Flow operator()(const MacroStatement& statement) const {
    scope->set(statement.macro->name, evaluator.macro_value(*statement.macro, scope));
    return Flow::kNext;
  }
  Flow operator()(const CallBlockStatement& statement) const {
    evaluator.execute_call_block(statement, scope, out);
    return Flow::kNext;
  }
  Flow operator()(const WithStatement& statement) const {
    const auto inner = std::make_shared<Scope>(scope);
    for (const auto& [target, value] : statement.variables) {
      evaluator.assign(target, evaluator.evaluate(*value, *scope), *inner);
    }
    return evaluator.execute(statement.body, inner, out);
  }
  Flow operator()(const BreakStatement&) const { return Flow::kBreak; }
  Flow operator()(const ContinueStatement&) const { return Flow::kContinue; }
};

Evaluator::Flow Evaluator::execute(const Body& body, const ScopePtr& scope, std::string& out) {
  const DepthGuard guard(context_);
  for (const Statement& statement : body) {
    context_.charge();
    const Flow flow = std::visit(StatementVisitor{*this, scope, out}, statement.node);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute_if(const IfStatement& statement, const ScopePtr& scope, std::string& out) {
  for (const auto& [condition, body] : statement.branches) {
    if (truthy(evaluate(*condition, *scope))) return execute(body, scope, out);
  }
  return execute(statement.otherwise, scope, out);
}

std::vector<Value> Evaluator::loop_items(const ForStatement& statement, const ScopePtr& scope) {
  std::vector<Value> items = iterate(context_, evaluate(*statement.iterable, *scope));
  if (statement.condition == nullptr) return items;
  std::vector<Value> kept;
  for (const Value& item : items) {
    Scope inner(scope);
    assign(statement.target, item, inner);
    if (truthy(evaluate(*statement.condition, inner))) kept.push_back(item);
  }
  return kept;
}

Evaluator::Flow Evaluator::execute_for(const ForStatement& statement, const ScopePtr& scope, std::string& out) {
  const std::vector<Value> items = loop_items(statement, scope);
  Loop* loop = context_.loop();
  loop->items = &items;
  bool completed_a_turn = false;  // else runs where no turn came to its end, as jinja2 has it
  for (; loop->index < items.size(); ++loop->index) {
    context_.charge();
    const auto inner = std::make_shared<Scope>(scope);
    inner->set("loop", loop);
    assign(statement.target, items[loop->index], *inner);
    const Flow flow = execute(statement.body, inner, out);
    if (flow == Flow::kBreak) break;
    completed_a_turn |= flow == Flow::kNext;
  }
  loop->items = nullptr;
  if (completed_a_turn) return Flow::kNext;
  return execute(statement.otherwise, std::make_shared<Scope>(scope), out);
}

void Evaluator::execute_capture(const CaptureStatement& statement, const ScopePtr& scope, std::string& out) {
  const auto inner = std::make_shared<Scope>(scope);
  std::string captured;
  execute(statement.body, inner, captured);
  Value value = context_.text(std::move(captured));
  if (statement.filter != nullptr) {
    inner->set(kBlockInput, value);
    value = evaluate(*statement.filter, *inner);
  }
  if (statement.target != nullptr) {
    assign(*statement.target, value, *scope);
  } else {
    append(to_text(context_, value), out);
  }
}

void Evaluator::execute_call_block(const CallBlockStatement& statement, const ScopePtr& scope, std::string& out) {
  const Value caller = macro_value(*statement.caller, scope);
  append(to_text(context_, call(std::get<CallExpression>(statement.call->node), *scope, &caller)), out);
}

void Evaluator::append(std::string_view text, std::string& out) {
  context_.check_text_size(out.size() + text.size());
  context_.charge_bytes(text.size());
  out += text;
}

void Evaluator::assign(const Target& target, const Value& value, Scope& scope) {
  if (!target.items.empty()) {
    const std::vector<Value> parts = iterate(context_, value);
    if (parts.size() > target.items.size()) {
      fail("too many values to unpack (expected " + std::to_string(target.items.size()) + ")");
    }
    if (parts.size() < target.items.size()) {
      fail("not enough values to unpack (expected " + std::to_string(target.items.size()) + ", got " +
           std::to_string(parts.size()) + ")");
    }
    for (std::size_t i = 0; i < parts.size(); ++i) assign(target.items[i], parts[i], scope);
    return;
  }
  if (target.attribute.empty()) return scope.set(target.name, value);
  const Value* object = scope.find(target.name);
  if (object == nullptr || object->dict() == nullptr || object->dict()->kind != Dict::Kind::kNamespace) {
    fail("cannot assign attribute on non-namespace object");
  }
  object->dict()->set(context_.text(target.attribute), value);
}

}  // namespace trireme::chat::jinja
