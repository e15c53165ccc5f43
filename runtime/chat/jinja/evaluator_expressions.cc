#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/evaluator.h"
#include "runtime/chat/jinja/member_access.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {

struct Evaluator::ExpressionVisitor {
  Evaluator& evaluator;
  Scope& scope;
  int line;

  RenderContext& context() const { return evaluator.context_; }
  Value evaluate(const ExpressionPtr& expression) const { return evaluator.evaluate(*expression, scope); }

  Value operator()(const LiteralExpression& node) const { return node.value; }
  Value operator()(const NameExpression& node) const {
    if (const Value* value = scope.find(node.name)) return *value;
    const Function function = find_function(node.name);
    const bool has_clock = context().limits().now.has_value();
    if (function != nullptr && (has_clock || node.name != "strftime_now")) {
      return context().callable(std::make_unique<BuiltinFunction>(function));
    }
    return undefined_because("'" + node.name + "' is undefined");
  }
  Value operator()(const ListExpression& node) const {
    std::vector<Value> items;
    for (const auto& item : node.items) items.push_back(evaluate(item));
    return context().list(node.is_tuple ? List::Kind::kTuple : List::Kind::kList, std::move(items));
  }
  Value operator()(const DictExpression& node) const {
    Dict* dict = context().dict();
    for (const auto& [key, value] : node.entries) {
      const Value name = evaluate(key);
      dict->set(name, evaluate(value));
    }
    return dict;
  }
  Value operator()(const AttributeExpression& node) const {
    return get_attribute(context(), evaluate(node.object), node.name);
  }
  Value operator()(const SubscriptExpression& node) const {
    const Value object = evaluate(node.object);
    return get_element(context(), object, evaluate(node.index));
  }
  Value operator()(const SliceExpression& node) const {
    const Value object = evaluate(node.object);
    const auto part = [this](const ExpressionPtr& expression) { return expression ? evaluate(expression) : Value(); };
    const Value start = part(node.start), stop = part(node.stop), step = part(node.step);
    return get_slice(context(), object, &start, &stop, &step);
  }
  Value operator()(const CallExpression& node) const { return evaluator.call(node, scope); }
  Value operator()(const FilterExpression& node) const {
    const Function filter = find_filter(node.name);
    if (filter == nullptr) fail("No filter named '" + node.name + "'.");
    const Value input = evaluate(node.input);
    return filter(context(), evaluator.evaluate_arguments(node.arguments, scope, &input));
  }
  Value operator()(const TestExpression& node) const {
    const Function test = find_test(node.name);
    if (test == nullptr) fail("No test named '" + node.name + "'.");
    const Value input = evaluate(node.input);
    return test(context(), evaluator.evaluate_arguments(node.arguments, scope, &input));
  }
  Value operator()(const UnaryExpression& node) const {
    const Value operand = evaluate(node.operand);
    if (node.op == UnaryExpression::Operator::kNot) return Value(!truthy(operand));
    return node.op == UnaryExpression::Operator::kNegate ? negate(operand) : positive(operand);
  }
  Value operator()(const BinaryExpression& node) const {
    const Value left = evaluate(node.left);
    return arithmetic(context(), node.op, left, evaluate(node.right));
  }
  Value operator()(const LogicalExpression& node) const {
    Value left = evaluate(node.left);
    return truthy(left) == node.is_and ? evaluate(node.right) : left;
  }
  Value operator()(const ComparisonExpression& node) const {
    Value left = evaluate(node.first);
    for (const auto& [comparison, operand] : node.rest) {
      Value right = evaluate(operand);
      if (!compare(context(), comparison, left, right)) return Value(false);
      left = std::move(right);
    }
    return Value(true);
  }
  Value operator()(const ConcatenationExpression& node) const {
    TextBuilder text(context());
    for (const auto& part : node.parts) text.append(to_text(context(), evaluate(part)));
    return text.value();
  }
  Value operator()(const ConditionalExpression& node) const {
    if (truthy(evaluate(node.condition))) return evaluate(node.then);
    if (node.otherwise != nullptr) return evaluate(node.otherwise);
    return undefined_because("the inline if-expression on line " + std::to_string(line) +
                             " evaluated to false and no else section was defined.");
  }
};

Value Evaluator::evaluate(const Expression& expression, Scope& scope) {
  const DepthGuard guard(context_);
  context_.charge();
  return std::visit(ExpressionVisitor{*this, scope, expression.line}, expression.node);
}

// A method is called without making a value of it first.
Value Evaluator::call(const CallExpression& expression, Scope& scope, const Value* caller) {
  const auto* attribute = std::get_if<AttributeExpression>(&expression.callee->node);
  if (attribute != nullptr && caller == nullptr) {
    const Value object = evaluate(*attribute->object, scope);
    if (const Function method = find_method(object, attribute->name)) {
      return method(context_, evaluate_arguments(expression.arguments, scope, &object));
    }
    const Value callee = get_attribute(context_, object, attribute->name);
    return call_value(callee, evaluate_arguments(expression.arguments, scope));
  }
  const Value callee = evaluate(*expression.callee, scope);
  Arguments arguments = evaluate_arguments(expression.arguments, scope);
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  return call_value(callee, arguments);
}

Value Evaluator::call_value(const Value& callee, const Arguments& arguments) {
  require_defined(callee);
  if (callee.callable() == nullptr) fail("'" + type_name(callee) + "' object is not callable");
  return callee.callable()->call(context_, arguments);
}

Arguments Evaluator::evaluate_arguments(const CallArguments& arguments, Scope& scope, const Value* first) {
  Arguments values;
  if (first != nullptr) values.positional.push_back(*first);
  for (const auto& argument : arguments.positional) values.positional.push_back(evaluate(*argument, scope));
  for (const auto& [name, argument] : arguments.named) values.named.emplace_back(name, evaluate(*argument, scope));
  if (arguments.unpacked != nullptr) {
    for (Value& value : iterate(context_, evaluate(*arguments.unpacked, scope))) {
      values.positional.push_back(std::move(value));
    }
  }
  if (arguments.unpacked_named != nullptr) {
    const Value mapping = evaluate(*arguments.unpacked_named, scope);
    if (mapping.dict() == nullptr) fail("argument after ** must be a mapping, not " + type_name(mapping));
    for (const auto& [name, value] : mapping.dict()->entries()) {
      if (!name.is_text()) fail("keywords must be strings");
      values.named.emplace_back(*name.text(), value);
    }
  }
  return values;
}

}  // namespace trireme::chat::jinja
