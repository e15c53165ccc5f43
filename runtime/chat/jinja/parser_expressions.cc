#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/chat/jinja/parser.h"

namespace trireme::chat::jinja {
namespace {

template <typename Operator, std::size_t size>
std::optional<Operator> find_operator(const Token& token,
                                      const std::array<std::pair<std::string_view, Operator>, size>& table) {
  for (const auto& [symbol, op] : table) {
    if (token.is_operator(symbol)) return op;
  }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisons = {{{"==", Comparison::kEqual},
                                                                                  {"!=", Comparison::kNotEqual},
                                                                                  {"<", Comparison::kLess},
                                                                                  {"<=", Comparison::kLessEqual},
                                                                                  {">", Comparison::kGreater},
                                                                                  {">=", Comparison::kGreaterEqual}}};
constexpr std::array<std::pair<std::string_view, BinaryOperator>, 2> kSums = {
    {{"+", BinaryOperator::kAdd}, {"-", BinaryOperator::kSubtract}}};
constexpr std::array<std::pair<std::string_view, BinaryOperator>, 4> kProducts = {{{"*", BinaryOperator::kMultiply},
                                                                                   {"/", BinaryOperator::kDivide},
                                                                                   {"//", BinaryOperator::kFloorDivide},
                                                                                   {"%", BinaryOperator::kModulo}}};

}  // namespace

ExpressionPtr Parser::parse_tuple(bool allows_condition) {
  const int line = current().line;
  const auto at_end = [this] {
    const TokenKind kind = current().kind;
    return kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd || current().is_operator(")");
  };
  ListExpression tuple{{}, true};
  bool has_comma = false;
  while (!at_end()) {
    tuple.items.push_back(allows_condition ? parse_expression() : parse_or());
    if (!skip_operator(",")) break;
    has_comma = true;
  }
  if (tuple.items.empty()) fail_here("Expected an expression, got " + describe(current()));
  if (!has_comma) return std::move(tuple.items[0]);
  return make(std::move(tuple), line);
}

ExpressionPtr Parser::parse_expression() {
  const Nesting nesting(*this);
  const int line = current().line;
  const std::size_t num_unknown = unknown_.size();
  ExpressionPtr expression = parse_or();
  while (skip_name("if")) {
    ExpressionPtr condition = parse_or();
    ExpressionPtr otherwise = skip_name("else") ? parse_expression() : nullptr;
    forgive_unknown(num_unknown);
    expression = make(ConditionalExpression{std::move(condition), std::move(expression), std::move(otherwise)}, line);
  }
  return expression;
}

ExpressionPtr Parser::parse_or() {
  const int line = current().line;
  ExpressionPtr left = parse_and();
  while (skip_name("or")) left = make(LogicalExpression{false, std::move(left), parse_and()}, line);
  return left;
}

ExpressionPtr Parser::parse_and() {
  const int line = current().line;
  ExpressionPtr left = parse_not();
  while (skip_name("and")) left = make(LogicalExpression{true, std::move(left), parse_not()}, line);
  return left;
}

ExpressionPtr Parser::parse_not() {
  const int line = current().line;
  if (!skip_name("not")) return parse_comparison();
  const Nesting nesting(*this);
  return make(UnaryExpression{UnaryExpression::Operator::kNot, parse_not()}, line);
}

ExpressionPtr Parser::parse_comparison() {
  const int line = current().line;
  ExpressionPtr first = parse_sum();
  ComparisonExpression comparison;
  while (true) {
    if (const auto op = find_operator(current(), kComparisons)) {
      next();
      comparison.rest.emplace_back(*op, parse_sum());
    } else if (skip_name("in")) {
      comparison.rest.emplace_back(Comparison::kIn, parse_sum());
    } else if (current().is_name("not") && following().is_name("in")) {
      next();
      next();
      comparison.rest.emplace_back(Comparison::kNotIn, parse_sum());
    } else {
      break;
    }
  }
  if (comparison.rest.empty()) return first;
  comparison.first = std::move(first);
  return make(std::move(comparison), line);
}

ExpressionPtr Parser::parse_sum() {
  ExpressionPtr left = parse_concatenation();
  while (const auto op = find_operator(current(), kSums)) {
    const int line = next().line;
    left = make(BinaryExpression{*op, std::move(left), parse_concatenation()}, line);
  }
  return left;
}

ExpressionPtr Parser::parse_concatenation() {
  const int line = current().line;
  ConcatenationExpression concatenation;
  concatenation.parts.push_back(parse_product());
  while (skip_operator("~")) concatenation.parts.push_back(parse_product());
  if (concatenation.parts.size() == 1) return std::move(concatenation.parts[0]);
  return make(std::move(concatenation), line);
}

ExpressionPtr Parser::parse_product() {
  ExpressionPtr left = parse_power();
  while (const auto op = find_operator(current(), kProducts)) {
    const int line = next().line;
    left = make(BinaryExpression{*op, std::move(left), parse_power()}, line);
  }
  return left;
}

// Powers group from the left in jinja2, other than in Python.
ExpressionPtr Parser::parse_power() {
  ExpressionPtr left = parse_unary();
  while (current().is_operator("**")) {
    const int line = next().line;
    left = make(BinaryExpression{BinaryOperator::kPower, std::move(left), parse_unary()}, line);
  }
  return left;
}

// A filter behind a sign takes the signed number: -1 | abs is 1.
ExpressionPtr Parser::parse_unary(bool with_filters) {
  const Nesting nesting(*this);
  const int line = current().line;
  ExpressionPtr operand;
  if (skip_operator("-")) {
    operand = make(UnaryExpression{UnaryExpression::Operator::kNegate, parse_unary(false)}, line);
  } else if (skip_operator("+")) {
    operand = make(UnaryExpression{UnaryExpression::Operator::kPositive, parse_unary(false)}, line);
  } else {
    operand = parse_primary();
  }
  operand = parse_postfix(std::move(operand));
  return with_filters ? parse_filters_and_tests(std::move(operand)) : std::move(operand);
}

}  // namespace trireme::chat::jinja
