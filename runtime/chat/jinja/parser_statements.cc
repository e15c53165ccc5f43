#include <algorithm>
#include <utility>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/parser.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

// A block that opens a loop for break and continue, or a macro, for as long as it lives.
template <typename T>
class Restore {
 public:
  Restore(T& variable, T value) : variable_(variable), old_(std::exchange(variable, value)) {}
  ~Restore() { variable_ = old_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& variable_;
  T old_;
};

}  // namespace

Body Parser::parse() {
  Body body = parse_body({});
  if (!unknown_.empty()) fail_syntax(unknown_.front().message, unknown_.front().line);
  return body;
}

Body Parser::parse_body(std::initializer_list<std::string_view> end_names) {
  const Nesting nesting(*this);
  Body body;
  while (current().kind != TokenKind::kEnd) {
    const int line = current().line;
    if (current().kind == TokenKind::kData) {
      body.push_back({line, DataStatement{next().text}});
    } else if (current().kind == TokenKind::kVariableBegin) {
      next();
      body.push_back({line, OutputStatement{parse_tuple()}});
      if (current().kind != TokenKind::kVariableEnd) {
        fail_here("expected end of print statement, got " + describe(current()));
      }
      next();
    } else {
      next();
      if (current().kind != TokenKind::kName) fail_here("tag name expected");
      if (std::find(end_names.begin(), end_names.end(), current().text) != end_names.end()) {
        end_name_ = next().text;
        return body;
      }
      const Token keyword = next();
      parse_keyword(keyword, body);
    }
  }
  if (end_names.size() > 0) {
    fail_here("Unexpected end of template: looking for '" + std::string(*(end_names.end() - 1)) + "'");
  }
  return body;
}

void Parser::parse_keyword(const Token& keyword, Body& body) {
  const std::string& name = keyword.text;
  const int line = keyword.line;
  if (name == "if") {
    body.push_back({line, parse_if()});
  } else if (name == "for") {
    body.push_back({line, parse_for()});
  } else if (name == "set") {
    parse_set(line, body);
  } else if (name == "macro") {
    body.push_back({line, parse_macro()});
  } else if (name == "call") {
    body.push_back({line, parse_call_block()});
  } else if (name == "filter") {
    body.push_back({line, parse_filter_block()});
  } else if (name == "with") {
    body.push_back({line, parse_with()});
  } else if (name == "break" || name == "continue") {
    if (loop_depth_ == 0) fail_syntax("'" + name + "' outside of a loop", line);
    expect_block_end();
    if (name == "break") body.push_back({line, BreakStatement{}});
    if (name == "continue") body.push_back({line, ContinueStatement{}});
  } else if (name == "generation") {  // marks for training what the assistant said; prints its body
    expect_block_end();
    WithStatement generation{{}, parse_body({"endgeneration"})};
    expect_block_end();
    body.push_back({line, std::move(generation)});
  } else {
    fail_syntax("Encountered unknown tag '" + name + "'.", line);
  }
}

IfStatement Parser::parse_if() {
  IfStatement statement;
  const std::size_t num_unknown = unknown_.size();
  do {
    ExpressionPtr condition = parse_tuple(false);
    expect_block_end();
    statement.branches.emplace_back(std::move(condition), parse_body({"elif", "else", "endif"}));
  } while (end_name_ == "elif");
  if (end_name_ == "else") {
    expect_block_end();
    statement.otherwise = parse_body({"endif"});
  }
  expect_block_end();
  forgive_unknown(num_unknown);
  return statement;
}

ForStatement Parser::parse_for() {
  ForStatement statement;
  statement.target = parse_target(false);
  if (!skip_name("in")) fail_here("expected 'in', got " + describe(current()));
  statement.iterable = parse_tuple(false);
  if (skip_name("if")) statement.condition = parse_expression();
  if (current().is_name("recursive")) fail_here("recursive loops are not supported");
  expect_block_end();
  {
    const Restore<int> in_loop(loop_depth_, loop_depth_ + 1);
    statement.body = parse_body({"else", "endfor"});
  }
  if (end_name_ == "else") {
    expect_block_end();
    statement.otherwise = parse_body({"endfor"});
  }
  expect_block_end();
  return statement;
}

void Parser::parse_set(int line, Body& body) {
  Target target = parse_target(true);
  if (skip_operator("=")) {
    SetStatement statement{std::move(target), parse_tuple()};
    expect_block_end();
    body.push_back({line, std::move(statement)});
    return;
  }
  CaptureStatement statement;
  statement.target = std::make_unique<Target>(std::move(target));
  if (current().is_operator("|")) statement.filter = parse_filter_chain(make(NameExpression{kBlockInput}, line));
  expect_block_end();
  statement.body = parse_body({"endset"});
  expect_block_end();
  body.push_back({line, std::move(statement)});
}

// The first filter stands without its bar: {% filter upper | trim %}.
CaptureStatement Parser::parse_filter_block() {
  const int line = current().line;
  CaptureStatement statement;
  FilterExpression first{make(NameExpression{kBlockInput}, line), parse_dotted_name(), {}};
  if (find_filter(first.name) == nullptr) note_unknown("No filter named '" + first.name + "'.", line);
  if (current().is_operator("(")) first.arguments = parse_arguments();
  statement.filter = parse_filter_chain(make(std::move(first), line));
  expect_block_end();
  statement.body = parse_body({"endfilter"});
  expect_block_end();
  return statement;
}

MacroStatement Parser::parse_macro() {
  MacroStatement statement{std::make_unique<MacroDefinition>()};
  statement.macro->name = expect_name();
  parse_parameters(*statement.macro);
  finish_macro(*statement.macro, "endmacro");
  return statement;
}

CallBlockStatement Parser::parse_call_block() {
  CallBlockStatement statement{std::make_unique<MacroDefinition>(), nullptr};
  statement.caller->name = "caller";
  if (current().is_operator("(")) parse_parameters(*statement.caller);
  statement.call = parse_expression();
  if (!std::holds_alternative<CallExpression>(statement.call->node)) fail_here("expected call");
  finish_macro(*statement.caller, "endcall");
  return statement;
}

void Parser::parse_parameters(MacroDefinition& macro) {
  expect_operator("(");
  while (!skip_operator(")")) {
    macro.parameters.push_back(expect_name());
    if (skip_operator("=")) {
      macro.defaults.push_back(parse_expression());
    } else if (!macro.defaults.empty()) {
      fail_here("non-default argument follows default argument");
    }
    if (!current().is_operator(")")) expect_operator(",");
  }
}

void Parser::finish_macro(MacroDefinition& macro, std::string_view end_name) {
  const Restore<MacroDefinition*> in_macro(macro_, &macro);
  const Restore<int> outside_of_loops(loop_depth_, 0);
  expect_block_end();
  macro.body = parse_body({end_name});
  expect_block_end();
}

WithStatement Parser::parse_with() {
  WithStatement statement;
  while (current().kind != TokenKind::kBlockEnd) {
    if (!statement.variables.empty()) expect_operator(",");
    Target target = parse_target(false);
    expect_operator("=");
    statement.variables.emplace_back(std::move(target), parse_expression());
  }
  expect_block_end();
  statement.body = parse_body({"endwith"});
  expect_block_end();
  return statement;
}

Target Parser::parse_target(bool allows_attribute) {
  Target first = parse_single_target(allows_attribute);
  if (!current().is_operator(",")) return first;
  Target tuple;
  tuple.items.push_back(std::move(first));
  while (skip_operator(",")) {
    if (current().kind != TokenKind::kName && !current().is_operator("(")) break;
    if (current().is_name("in")) break;
    tuple.items.push_back(parse_single_target(allows_attribute));
  }
  return tuple;
}

Target Parser::parse_single_target(bool allows_attribute) {
  const Nesting nesting(*this);
  if (skip_operator("(")) {
    Target inner = parse_target(allows_attribute);
    expect_operator(")");
    return inner;
  }
  Target target;
  target.name = expect_name();
  for (const std::string_view reserved : {"true", "false", "none", "True", "False", "None"}) {
    if (target.name == reserved) fail_here("can't assign to '" + target.name + "'");
  }
  if (allows_attribute && skip_operator(".")) target.attribute = expect_name();
  return target;
}

}  // namespace trireme::chat::jinja
