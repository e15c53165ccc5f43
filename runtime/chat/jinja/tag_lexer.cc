#include "runtime/chat/jinja/tag_lexer.h"

#include <algorithm>
#include <array>

#include "runtime/chat/jinja/string_literal.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

constexpr std::array<std::string_view, 6> kLongOperators = {"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view kOperators = "+-/*%~[](){}><=.:|,;";

bool is_digit_char(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_char(char c) {
  return is_name_start(c) || is_digit_char(c);
}
bool is_space_char(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

TagLexer::TagLexer(std::string_view source, std::size_t position, int line, std::vector<Token>& tokens)
    : source_(source), position_(position), line_(line), tokens_(tokens) {}

void TagLexer::run(bool is_variable) {
  while (position_ < source_.size()) {
    if (open_brackets_.empty() && lex_end(is_variable)) return;
    lex_token();
  }
}

bool TagLexer::lex_end(bool is_variable) {
  const std::string_view close = is_variable ? "}}" : "%}";
  const bool has_sign = peek() == '-' || (peek() == '+' && !is_variable);
  const std::size_t at = position_ + (has_sign ? 1 : 0);
  if (source_.substr(at, 2) != close) return false;
  push(is_variable ? TokenKind::kVariableEnd : TokenKind::kBlockEnd, "");
  const char sign = has_sign ? peek() : ' ';
  std::size_t next = at + 2;
  if (sign == '-') {
    while (next < source_.size() && is_space_char(source_[next])) ++next;
  } else if (sign == ' ' && !is_variable && next < source_.size() && source_[next] == '\n') {
    ++next;
  }
  advance(next);
  return true;
}

void TagLexer::lex_token() {
  const char c = peek();
  if (is_space_char(c)) {
    advance(position_ + 1);
  } else if (is_digit_char(c)) {
    lex_number();
  } else if (is_name_start(c)) {
    std::size_t end = position_;
    while (end < source_.size() && is_name_char(source_[end])) ++end;
    push(TokenKind::kName, std::string(source_.substr(position_, end - position_)));
    advance(end);
  } else if (c == '\'' || c == '"') {
    lex_string();
  } else {
    lex_operator();
  }
}

// Digits may be grouped by underscores. Behind a dot, as in row.0.1, there are integers only.
void TagLexer::lex_number() {
  const auto skip_digits = [this](std::size_t at) {
    while (at < source_.size() && (is_digit_char(source_[at]) || source_[at] == '_')) ++at;
    return at;
  };
  const auto digit_at = [this](std::size_t at) { return at < source_.size() && is_digit_char(source_[at]); };
  std::size_t end = skip_digits(position_);
  bool is_float = false;
  const bool behind_dot = position_ > 0 && source_[position_ - 1] == '.';
  if (!behind_dot && end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
    is_float = true;
    end = skip_digits(end + 1);
  }
  if (!behind_dot && end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
    const bool has_sign = end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-');
    const std::size_t exponent = end + (has_sign ? 2 : 1);
    if (digit_at(exponent)) {
      is_float = true;
      end = skip_digits(exponent);
    }
  }
  std::string text(source_.substr(position_, end - position_));
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  push(is_float ? TokenKind::kFloat : TokenKind::kInteger, std::move(text));
  advance(end);
}

void TagLexer::lex_string() {
  const char quote = peek();
  std::size_t end = position_ + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) fail_syntax("a string has no end", line_);
  push(TokenKind::kString, resolve_escapes(source_.substr(position_ + 1, end - position_ - 1), line_));
  advance(end + 1);
}

void TagLexer::lex_operator() {
  const std::string_view two = source_.substr(position_, 2);
  if (std::find(kLongOperators.begin(), kLongOperators.end(), two) != kLongOperators.end()) {
    push(TokenKind::kOperator, std::string(two));
    advance(position_ + 2);
    return;
  }
  const char c = peek();
  if (kOperators.find(c) == std::string_view::npos) fail_syntax(std::string("unexpected char '") + c + "'", line_);
  if (c == '(') open_brackets_ += ')';
  if (c == '[') open_brackets_ += ']';
  if (c == '{') open_brackets_ += '}';
  if (c == ')' || c == ']' || c == '}') close_bracket(c);
  push(TokenKind::kOperator, std::string(1, c));
  advance(position_ + 1);
}

void TagLexer::close_bracket(char bracket) {
  if (open_brackets_.empty()) fail_syntax(std::string("unexpected '") + bracket + "'", line_);
  if (open_brackets_.back() != bracket) {
    fail_syntax(std::string("unexpected '") + bracket + "', expected '" + open_brackets_.back() + "'", line_);
  }
  open_brackets_.pop_back();
}

void TagLexer::push(TokenKind kind, std::string text) {
  tokens_.push_back({kind, std::move(text), line_});
}

void TagLexer::advance(std::size_t position) {
  line_ += static_cast<int>(std::count(source_.begin() + position_, source_.begin() + position, '\n'));
  position_ = position;
}

char TagLexer::peek(std::size_t offset) const {
  return position_ + offset < source_.size() ? source_[position_ + offset] : '\0';
}

}  // namespace trireme::chat::jinja
