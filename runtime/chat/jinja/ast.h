// Syntax tree of a template. Immutable once parsed, so that renderings on several threads can share it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<Expression>;
using Body = std::vector<Statement>;

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr unpacked;        // *sequence, or null
  ExpressionPtr unpacked_named;  // **mapping, or null
};

struct LiteralExpression {
  Value value;
};
struct NameExpression {
  std::string name;
};
struct ListExpression {
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
};
struct DictExpression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct AttributeExpression {  // object.name
  ExpressionPtr object;
  std::string name;
};
struct SubscriptExpression {  // object[index]
  ExpressionPtr object, index;
};
struct SliceExpression {  // object[start:stop:step], each of them null if left out
  ExpressionPtr object, start, stop, step;
};
struct CallExpression {
  ExpressionPtr callee;
  CallArguments arguments;
};
struct FilterExpression {
  ExpressionPtr input;
  std::string name;
  CallArguments arguments;
};
struct TestExpression {
  ExpressionPtr input;
  std::string name;
  CallArguments arguments;
};
struct UnaryExpression {
  enum class Operator { kNot, kNegate, kPositive } op;
  ExpressionPtr operand;
};
struct BinaryExpression {
  BinaryOperator op;
  ExpressionPtr left, right;
};
struct LogicalExpression {
  bool is_and = false;  // else or
  ExpressionPtr left, right;
};
struct ComparisonExpression {  // first < second <= third …
  ExpressionPtr first;
  std::vector<std::pair<Comparison, ExpressionPtr>> rest;
};
struct ConcatenationExpression {  // a ~ b ~ c
  std::vector<ExpressionPtr> parts;
};
struct ConditionalExpression {  // then if condition else otherwise, which may be null
  ExpressionPtr condition, then, otherwise;
};

struct Expression {
  int line = 1;
  std::int32_t depth = 1;  // of the tree below
  std::variant<LiteralExpression, NameExpression, ListExpression, DictExpression, AttributeExpression,
               SubscriptExpression, SliceExpression, CallExpression, FilterExpression, TestExpression, UnaryExpression,
               BinaryExpression, LogicalExpression, ComparisonExpression, ConcatenationExpression,
               ConditionalExpression>
      node;
};

// What is assigned to: a name, an attribute of a namespace, or a tuple of targets.
struct Target {
  std::string name;
  std::string attribute;      // empty: the name itself
  std::vector<Target> items;  // not empty: a tuple
};

struct MacroDefinition {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults;  // of the last parameters
  Body body;
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
};

struct DataStatement {
  std::string text;
};
struct OutputStatement {
  ExpressionPtr value;
};
struct IfStatement {
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  Body otherwise;
};
struct ForStatement {
  Target target;
  ExpressionPtr iterable;
  ExpressionPtr condition;  // null: none
  Body body;
  Body otherwise;
};
struct SetStatement {
  Target target;
  ExpressionPtr value;
};
// Renders the body, runs it through a filter chain (null: none) whose input is the name kBlockInput, and assigns it to
// the target, or prints it where there is none.
struct CaptureStatement {
  std::unique_ptr<Target> target;
  ExpressionPtr filter;
  Body body;
};
struct MacroStatement {
  std::unique_ptr<MacroDefinition> macro;
};
struct CallBlockStatement {  // {% call(parameters) macro(arguments) %}
  std::unique_ptr<MacroDefinition> caller;
  ExpressionPtr call;
};
struct WithStatement {
  std::vector<std::pair<Target, ExpressionPtr>> variables;
  Body body;
};
struct BreakStatement {};
struct ContinueStatement {};

inline constexpr const char* kBlockInput = "block input";  // no name that a template can write

struct Statement {
  int line = 1;
  std::variant<DataStatement, OutputStatement, IfStatement, ForStatement, SetStatement, CaptureStatement,
               MacroStatement, CallBlockStatement, WithStatement, BreakStatement, ContinueStatement>
      node;
};

}  // namespace trireme::chat::jinja
