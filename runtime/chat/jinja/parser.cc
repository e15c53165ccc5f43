#include "runtime/chat/jinja/parser.h"

#include <algorithm>

#include "runtime/chat/jinja/lexer.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

// The greatest depth of the children of a node.
class ChildDepth {
 public:
  void add(const ExpressionPtr& child) {
    if (child != nullptr) depth_ = std::max(depth_, child->depth);
  }
  void add(const CallArguments& arguments) {
    for (const auto& argument : arguments.positional) add(argument);
    for (const auto& argument : arguments.named) add(argument.second);
    add(arguments.unpacked);
    add(arguments.unpacked_named);
  }
  std::int32_t get() const { return depth_; }

  void operator()(const LiteralExpression&) {}
  void operator()(const NameExpression&) {}
  void operator()(const ListExpression& node) {
    for (const auto& item : node.items) add(item);
  }
  void operator()(const DictExpression& node) {
    for (const auto& [key, value] : node.entries) add(key), add(value);
  }
  void operator()(const AttributeExpression& node) { add(node.object); }
  void operator()(const SubscriptExpression& node) { add(node.object), add(node.index); }
  void operator()(const SliceExpression& node) { add(node.object), add(node.start), add(node.stop), add(node.step); }
  void operator()(const CallExpression& node) { add(node.callee), add(node.arguments); }
  void operator()(const FilterExpression& node) { add(node.input), add(node.arguments); }
  void operator()(const TestExpression& node) { add(node.input), add(node.arguments); }
  void operator()(const UnaryExpression& node) { add(node.operand); }
  void operator()(const BinaryExpression& node) { add(node.left), add(node.right); }
  void operator()(const LogicalExpression& node) { add(node.left), add(node.right); }
  void operator()(const ComparisonExpression& node) {
    add(node.first);
    for (const auto& entry : node.rest) add(entry.second);
  }
  void operator()(const ConcatenationExpression& node) {
    for (const auto& part : node.parts) add(part);
  }
  void operator()(const ConditionalExpression& node) { add(node.condition), add(node.then), add(node.otherwise); }

 private:
  std::int32_t depth_ = 0;
};

}  // namespace

std::int32_t depth_of(const Expression& expression) {
  ChildDepth children;
  std::visit(children, expression.node);
  return children.get() + 1;
}

Body parse_template(std::string_view source) {
  return Parser(tokenize(source)).parse();
}

const Token& Parser::following() const {
  return tokens_[std::min(position_ + 1, tokens_.size() - 1)];
}

Token Parser::next() {
  Token token = current();
  if (token.kind != TokenKind::kEnd) ++position_;
  return token;
}

bool Parser::skip_operator(std::string_view symbol) {
  if (!current().is_operator(symbol)) return false;
  next();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  next();
  return true;
}

void Parser::expect_operator(std::string_view symbol) {
  if (!skip_operator(symbol)) fail_here("expected '" + std::string(symbol) + "', got " + describe(current()));
}

std::string Parser::expect_name() {
  if (current().kind != TokenKind::kName) fail_here("expected a name, got " + describe(current()));
  return next().text;
}

void Parser::expect_block_end() {
  if (current().kind != TokenKind::kBlockEnd) {
    fail_here("expected end of statement block, got " + describe(current()));
  }
  next();
}

void Parser::fail_unexpected() const {
  fail_here("unexpected " + describe(current()));
}

void Parser::fail_here(const std::string& message) const {
  fail_syntax(message, current().line);
}

}  // namespace trireme::chat::jinja
