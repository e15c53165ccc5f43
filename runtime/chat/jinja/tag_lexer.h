// TagLexer: the tokens inside one tag, {{ … }} or {% … %}.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/chat/jinja/token.h"

namespace trireme::chat::jinja {

class TagLexer {
 public:
  // `position` and `line`: just behind the tag's beginning. References must outlive the lexer.
  TagLexer(std::string_view source, std::size_t position, int line, std::vector<Token>& tokens);

  // Appends the tag's tokens, its end included; stops at the end of the source. Throws TemplateError.
  void run(bool is_variable);
  std::size_t position() const { return position_; }  // behind the tag and what it trims
  int line() const { return line_; }

 private:
  bool lex_end(bool is_variable);
  void lex_token();
  void lex_number();
  void lex_string();
  void lex_operator();
  void close_bracket(char bracket);
  void push(TokenKind kind, std::string text);
  void advance(std::size_t position);
  char peek(std::size_t offset = 0) const;

  std::string_view source_;
  std::size_t position_;
  int line_;
  std::vector<Token>& tokens_;
  std::string open_brackets_;  // the closing ones that are awaited; a tag ends only outside of them
};

}  // namespace trireme::chat::jinja
