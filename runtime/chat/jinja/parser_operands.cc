#include <charconv>
#include <cstdlib>
#include <limits>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/parser.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

Value text_value(std::string text) {
  return Value(std::make_shared<const std::string>(std::move(text)));
}

}  // namespace

ExpressionPtr Parser::parse_primary() {
  const Token& token = current();
  const int line = token.line;
  switch (token.kind) {
    case TokenKind::kString: {
      std::string text;
      while (current().kind == TokenKind::kString) text += next().text;  // neighbours are one
      return make(LiteralExpression{text_value(std::move(text))}, line);
    }
    case TokenKind::kInteger:
    case TokenKind::kFloat: return parse_number();
    case TokenKind::kName: break;
    default:
      if (token.is_operator("(")) return parse_parenthesized();
      if (token.is_operator("[")) return parse_list();
      if (token.is_operator("{")) return parse_dict();
      fail_unexpected();
  }
  const std::string name = next().text;
  if (name == "true" || name == "True") return make(LiteralExpression{Value(true)}, line);
  if (name == "false" || name == "False") return make(LiteralExpression{Value(false)}, line);
  if (name == "none" || name == "None") return make(LiteralExpression{Value()}, line);
  if (macro_ != nullptr) {
    macro_->uses_varargs |= name == "varargs";
    macro_->uses_kwargs |= name == "kwargs";
    macro_->uses_caller |= name == "caller";
  }
  return make(NameExpression{name}, line);
}

ExpressionPtr Parser::parse_number() {
  const Token token = next();
  if (token.kind == TokenKind::kFloat) {
    double value = 0.0;
    std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    return make(LiteralExpression{Value(value)}, token.line);
  }
  std::int64_t value = 0;
  const auto result = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (result.ec != std::errc()) fail_syntax("the integer " + token.text + " is out of range", token.line);
  return make(LiteralExpression{Value(value)}, token.line);
}

ExpressionPtr Parser::parse_parenthesized() {
  const int line = next().line;
  if (skip_operator(")")) return make(ListExpression{{}, true}, line);
  ExpressionPtr inner = parse_tuple();
  expect_operator(")");
  return inner;
}

ExpressionPtr Parser::parse_list() {
  const int line = next().line;
  ListExpression list;
  while (!skip_operator("]")) {
    list.items.push_back(parse_expression());
    if (!current().is_operator("]")) expect_operator(",");
  }
  return make(std::move(list), line);
}

ExpressionPtr Parser::parse_dict() {
  const int line = next().line;
  DictExpression dict;
  while (!skip_operator("}")) {
    ExpressionPtr key = parse_expression();
    expect_operator(":");
    dict.entries.emplace_back(std::move(key), parse_expression());
    if (!current().is_operator("}")) expect_operator(",");
  }
  return make(std::move(dict), line);
}

ExpressionPtr Parser::parse_postfix(ExpressionPtr operand) {
  while (true) {
    if (current().is_operator(".")) {
      operand = parse_attribute(std::move(operand));
    } else if (current().is_operator("[")) {
      operand = parse_subscript(std::move(operand));
    } else if (current().is_operator("(")) {
      operand = parse_call(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPtr Parser::parse_attribute(ExpressionPtr object) {
  const int line = next().line;
  if (current().kind == TokenKind::kInteger) {
    return make(SubscriptExpression{std::move(object), parse_number()}, line);
  }
  return make(AttributeExpression{std::move(object), expect_name()}, line);
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr object) {
  const int line = next().line;
  ExpressionPtr start;
  if (!current().is_operator(":")) start = parse_expression();
  if (!current().is_operator(":")) {
    if (current().is_operator(",")) fail_here("a subscript of several parts is not supported");
    expect_operator("]");
    return make(SubscriptExpression{std::move(object), std::move(start)}, line);
  }
  next();
  const auto at_part_end = [this] { return current().is_operator(":") || current().is_operator("]"); };
  SliceExpression slice{std::move(object), std::move(start), nullptr, nullptr};
  if (!at_part_end()) slice.stop = parse_expression();
  if (skip_operator(":") && !at_part_end()) slice.step = parse_expression();
  expect_operator("]");
  return make(std::move(slice), line);
}

ExpressionPtr Parser::parse_call(ExpressionPtr callee) {
  const int line = current().line;
  CallArguments arguments = parse_arguments();
  return make(CallExpression{std::move(callee), std::move(arguments)}, line);
}

CallArguments Parser::parse_arguments() {
  expect_operator("(");
  CallArguments arguments;
  while (!skip_operator(")")) {
    if (skip_operator("*")) {
      if (arguments.unpacked != nullptr) fail_here("invalid syntax for function call expression");
      arguments.unpacked = parse_expression();
    } else if (skip_operator("**")) {
      if (arguments.unpacked_named != nullptr) fail_here("invalid syntax for function call expression");
      arguments.unpacked_named = parse_expression();
    } else if (current().kind == TokenKind::kName && following().is_operator("=")) {
      std::string name = next().text;
      next();
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else {
      if (!arguments.named.empty() || arguments.unpacked != nullptr || arguments.unpacked_named != nullptr) {
        fail_here("invalid syntax for function call expression");
      }
      arguments.positional.push_back(parse_expression());
    }
    if (!current().is_operator(")")) expect_operator(",");
  }
  return arguments;
}

ExpressionPtr Parser::parse_filters_and_tests(ExpressionPtr operand) {
  while (true) {
    if (current().is_operator("|")) {
      operand = parse_filter(std::move(operand));
    } else if (current().is_name("is")) {
      operand = parse_test(std::move(operand));
    } else if (current().is_operator("(")) {
      operand = parse_call(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPtr Parser::parse_filter(ExpressionPtr input) {
  const int line = next().line;
  FilterExpression filter{std::move(input), parse_dotted_name(), {}};
  if (find_filter(filter.name) == nullptr) note_unknown("No filter named '" + filter.name + "'.", line);
  if (current().is_operator("(")) filter.arguments = parse_arguments();
  return make(std::move(filter), line);
}

std::string Parser::parse_dotted_name() {
  std::string name = expect_name();
  while (skip_operator(".")) name += "." + expect_name();
  return name;
}

ExpressionPtr Parser::parse_filter_chain(ExpressionPtr input) {
  while (current().is_operator("|")) input = parse_filter(std::move(input));
  return input;
}

// An argument without parentheses may follow: x is divisibleby 3.
ExpressionPtr Parser::parse_test(ExpressionPtr input) {
  const int line = next().line;
  const bool negated = skip_name("not");
  TestExpression test{std::move(input), parse_dotted_name(), {}};
  if (find_test(test.name) == nullptr) note_unknown("No test named '" + test.name + "'.", line);
  const Token& token = current();
  const bool starts_operand =
      token.kind == TokenKind::kString || token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat ||
      token.is_operator("[") || token.is_operator("{") ||
      (token.kind == TokenKind::kName && !token.is_name("else") && !token.is_name("or") && !token.is_name("and"));
  if (token.is_operator("(")) {
    test.arguments = parse_arguments();
  } else if (starts_operand) {
    if (token.is_name("is")) fail_here("You cannot chain multiple tests with is");
    test.arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  ExpressionPtr expression = make(std::move(test), line);
  if (!negated) return expression;
  return make(UnaryExpression{UnaryExpression::Operator::kNot, std::move(expression)}, line);
}

}  // namespace trireme::chat::jinja
