// Token: the smallest part of a template's source that has a meaning of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trireme::chat::jinja {

enum class TokenKind {
  kData,           // text between tags, after whitespace control
  kVariableBegin,  // {{
  kVariableEnd,    // }}
  kBlockBegin,     // {%
  kBlockEnd,       // %}
  kName,
  kString,  // text: without quotes, escapes resolved
  kInteger,
  kFloat,
  kOperator,
  kEnd,  // of the template
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;

  bool is_operator(std::string_view symbol) const { return kind == TokenKind::kOperator && text == symbol; }
  bool is_name(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

// How messages name a token.
std::string describe(const Token& token);

}  // namespace trireme::chat::jinja
