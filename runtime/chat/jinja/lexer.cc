#include "runtime/chat/jinja/lexer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "runtime/chat/jinja/tag_lexer.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\f\v";
constexpr std::size_t kNone = std::string_view::npos;

std::size_t skip_spaces(std::string_view source, std::size_t position) {
  return std::min(source.find_first_not_of(kSpaces, position), source.size());
}

bool has_at(std::string_view source, std::size_t position, std::string_view part) {
  return position <= source.size() && source.substr(position, part.size()) == part;
}

// The end of a tag that closes with `close` and may carry a sign: where it begins, and where the text goes on.
struct TagEnd {
  std::size_t begin = 0;
  std::size_t next = 0;
};

std::size_t behind_close(std::string_view source, std::size_t close, char sign) {
  const std::size_t behind = close + 2;
  if (sign == '-') return skip_spaces(source, behind);
  return sign != '+' && has_at(source, behind, "\n") ? behind + 1 : behind;
}

// "{% raw %}" or "{% endraw %}" at `position`; `trims`: whether the newline behind it goes.
std::optional<TagEnd> match_word_block(std::string_view source, std::size_t position, std::string_view word,
                                       bool trims) {
  if (!has_at(source, position, "{%")) return std::nullopt;
  std::size_t at = position + 2;
  if (at < source.size() && (source[at] == '-' || source[at] == '+')) ++at;
  at = skip_spaces(source, at);
  if (!has_at(source, at, word)) return std::nullopt;
  at = skip_spaces(source, at + word.size());
  char sign = ' ';
  if (at < source.size() && (source[at] == '-' || (trims && source[at] == '+'))) sign = source[at++];
  if (!has_at(source, at, "%}")) return std::nullopt;
  return TagEnd{position, trims || sign == '-' ? behind_close(source, at, sign) : at + 2};
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (position_ < source_.size()) lex_piece();
    tokens_.push_back({TokenKind::kEnd, "", line_});
    return std::move(tokens_);
  }

 private:
  void lex_piece() {
    const std::size_t tag = find_tag();
    if (tag == kNone) {
      push_data(source_.substr(position_));
      advance(source_.size());
      return;
    }
    push_data(data_before(tag));
    advance(tag);
    const char kind = source_[tag + 1];
    if (kind == '#') {
      skip_comment();
    } else if (const auto raw = match_word_block(source_, tag, "raw", false); kind == '%' && raw) {
      lex_raw(raw->next);
    } else {
      lex_tag(kind == '{');
    }
  }

  std::size_t find_tag() const {
    std::size_t at = source_.find('{', position_);
    for (; at != kNone; at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : ' ';
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return kNone;
  }

  char sign_at(std::size_t tag) const {
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    return sign == '-' || sign == '+' ? sign : ' ';
  }

  // The text from here to a tag, less the whitespace that the tag takes away.
  std::string data_before(std::size_t tag) const {
    std::string text = source_.substr(position_, tag - position_);
    const char sign = sign_at(tag);
    if (sign == '-') {
      text.resize(text.find_last_not_of(kSpaces) + 1);  // npos + 1 is 0
    } else if (sign == ' ' && source_[tag + 1] != '{') {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line_begin = newline == kNone ? 0 : newline + 1;
      const bool at_line_start = newline != kNone || position_ == 0 || source_[position_ - 1] == '\n';
      if (at_line_start && text.find_first_not_of(kSpaces, line_begin) == kNone) text.resize(line_begin);
    }
    return text;
  }

  void skip_comment() {
    const std::size_t content = position_ + 2 + (sign_at(position_) == ' ' ? 0 : 1);
    const std::size_t close = source_.find("#}", content);
    if (close == kNone) fail_syntax("Missing end of comment tag", line_);
    advance(behind_close(source_, close, close > content ? source_[close - 1] : ' '));
  }

  void lex_raw(std::size_t content) {
    advance(content);
    for (std::size_t at = source_.find("{%", content); at != kNone; at = source_.find("{%", at + 1)) {
      const auto end = match_word_block(source_, at, "endraw", true);
      if (!end) continue;
      push_data(data_before(at));
      advance(end->next);
      return;
    }
    fail_syntax("Missing end of raw directive", line_);
  }

  void lex_tag(bool is_variable) {
    tokens_.push_back({is_variable ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, "", line_});
    const std::size_t content = position_ + 2 + (sign_at(position_) == ' ' ? 0 : 1);
    TagLexer lexer(source_, content, line_, tokens_);
    lexer.run(is_variable);
    position_ = lexer.position();
    line_ = lexer.line();
  }

  void push_data(std::string text) {
    if (!text.empty()) tokens_.push_back({TokenKind::kData, std::move(text), line_});
  }

  void advance(std::size_t position) {
    const auto begin = source_.begin();
    line_ += static_cast<int>(std::count(begin + static_cast<std::ptrdiff_t>(position_),
                                         begin + static_cast<std::ptrdiff_t>(position), '\n'));
    position_ = position;
  }

  std::string source_;
  std::size_t position_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

// All line ends become \n, and one at the end of the template goes.
std::string normalize_newlines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    text += source[i] == '\r' ? '\n' : source[i];
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kData: return "template data";
    case TokenKind::kVariableBegin: return "begin of print statement";
    case TokenKind::kVariableEnd: return "end of print statement";
    case TokenKind::kBlockBegin: return "begin of statement block";
    case TokenKind::kBlockEnd: return "end of statement block";
    case TokenKind::kEnd: return "end of template";
    case TokenKind::kString: return "string";
    default: return "'" + token.text + "'";
  }
}

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(normalize_newlines(source)).run();
}

}  // namespace trireme::chat::jinja
