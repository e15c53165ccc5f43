// Parser: tokens to a syntax tree, by recursive descent with jinja2's grammar and precedences.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/chat/jinja/ast.h"
#include "runtime/chat/jinja/token.h"

namespace trireme::chat::jinja {

// Throws TemplateError with the line.
Body parse_template(std::string_view source);

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Body parse();

 private:
  // Statements (parser_statements.cc). Each starts behind its keyword and ends behind its tag's end.
  Body parse_body(std::initializer_list<std::string_view> end_names);  // stops behind the name that ends it
  void parse_keyword(const Token& keyword, Body& body);
  IfStatement parse_if();
  ForStatement parse_for();
  void parse_set(int line, Body& body);
  CaptureStatement parse_filter_block();
  MacroStatement parse_macro();
  CallBlockStatement parse_call_block();
  WithStatement parse_with();
  void parse_parameters(MacroDefinition& macro);
  void finish_macro(MacroDefinition& macro, std::string_view end_name);
  Target parse_target(bool allows_attribute);
  Target parse_single_target(bool allows_attribute);

  // Expressions (parser_expressions.cc), from the weakest binding to the strongest.
  ExpressionPtr parse_tuple(bool allows_condition = true);  // one expression, or several with commas
  ExpressionPtr parse_expression();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filters = true);

  // Operands and what may follow them (parser_operands.cc).
  ExpressionPtr parse_primary();
  ExpressionPtr parse_number();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_parenthesized();
  ExpressionPtr parse_postfix(ExpressionPtr operand);
  ExpressionPtr parse_attribute(ExpressionPtr object);
  ExpressionPtr parse_subscript(ExpressionPtr object);
  ExpressionPtr parse_call(ExpressionPtr callee);
  ExpressionPtr parse_filters_and_tests(ExpressionPtr operand);
  ExpressionPtr parse_filter(ExpressionPtr input);
  ExpressionPtr parse_filter_chain(ExpressionPtr input);
  ExpressionPtr parse_test(ExpressionPtr input);
  CallArguments parse_arguments();
  std::string parse_dotted_name();

  // Tokens (parser.cc).
  const Token& current() const { return tokens_[position_]; }
  const Token& following() const;
  Token next();
  bool skip_operator(std::string_view symbol);
  bool skip_name(std::string_view name);
  void expect_operator(std::string_view symbol);
  std::string expect_name();
  void expect_block_end();
  // Notes a filter or test that does not exist. It is an error of the template, except where a condition decides
  // whether it is used, as in jinja2: then it is an error of the rendering that gets there.
  void note_unknown(std::string message, int line) { unknown_.push_back({std::move(message), line}); }
  void forgive_unknown(std::size_t since) { unknown_.resize(since); }
  [[noreturn]] void fail_unexpected() const;
  [[noreturn]] void fail_here(const std::string& message) const;

  // Wraps a node, and refuses a tree that gets too deep to walk.
  template <typename Node>
  ExpressionPtr make(Node node, int line);

  class Nesting;  // counts the recursion

  struct Unknown {
    std::string message;
    int line = 0;
  };

  std::vector<Token> tokens_;
  std::vector<Unknown> unknown_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  std::string end_name_;              // which name ended the last body
  MacroDefinition* macro_ = nullptr;  // that is being parsed
  int loop_depth_ = 0;
};

// Deepest expression and deepest nesting of statements.
inline constexpr int kMaxSyntaxDepth = 200;

class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.nesting_ > kMaxSyntaxDepth) parser_.fail_here("the template nests too deep");
  }
  ~Nesting() { --parser_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

// Depth of the tree that a node would be the root of.
std::int32_t depth_of(const Expression& expression);

template <typename Node>
ExpressionPtr Parser::make(Node node, int line) {
  auto expression = std::make_unique<Expression>(Expression{line, 1, std::move(node)});
  expression->depth = depth_of(*expression);
  if (expression->depth > kMaxSyntaxDepth) fail_here("an expression nests too deep");
  return expression;
}

}  // namespace trireme::chat::jinja
