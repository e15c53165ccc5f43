#include "runtime/tokenizer/regex_dialect.h"

#include "runtime/tokenizer/character_class.h"

namespace trireme::tokenizer {
namespace {

// Oniguruma's \w: unlike UTS #18's it lacks the joiners, and has Latin-1's superscripts and fractions.
constexpr std::string_view kWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
// Escapes that mean the same in both. Others, like \h (a hexadecimal digit in Oniguruma, a space in PCRE2), do not.
constexpr std::string_view kSameEscapes = "pPdDAtnrfvaexuzZ0123456789";

bool is_ascii_alphanumeric(char character) {
  return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
         (character >= 'a' && character <= 'z');
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  base::Result<std::string> run() {
    for (at_ = 0; at_ < pattern_.size() && error_.empty(); ++at_) step();
    if (!error_.empty()) return base::unsupported("regular expression \"" + std::string(pattern_) + "\": " + error_);
    return std::move(output_);
  }

 private:
  void step() {
    const char character = pattern_[at_];
    if (character == '\\' && at_ + 1 < pattern_.size()) {
      translate_escape(pattern_[++at_]);
      return;
    }
    if (in_class_ && pattern_.substr(at_, 2) == "&&") error_ = "an intersection of classes";
    if (character == '[') {
      if (in_class_ && pattern_.substr(at_, 2) != "[:") error_ = "a class within a class";
      in_class_ = true;
    } else if (character == ']') {
      in_class_ = false;
    } else if (!in_class_ && character == '{') {
      check_interval();
    }
    output_ += character;
    if (!in_class_ && character == '(' && pattern_.substr(at_, 2) == "(?") translate_options();
  }

  // After {n,m}, Oniguruma reads "+" as a repetition, PCRE2 as possessive.
  void check_interval() {
    const std::size_t end = pattern_.find_first_not_of("0123456789,", at_ + 1);
    if (end != std::string_view::npos && end > at_ + 1 && pattern_.substr(end, 2) == "}+") error_ = "{n,m}+";
  }

  // (?i), (?im:…): "m" lets the dot match line ends, which PCRE2 calls "s".
  void translate_options() {
    const std::size_t end = pattern_.find_first_not_of("imx-", at_ + 2);
    if (end == std::string_view::npos || end == at_ + 2 || (pattern_[end] != ')' && pattern_[end] != ':')) return;
    output_ += '?';
    for (std::size_t i = at_ + 2; i < end; ++i) output_ += pattern_[i] == 'm' ? 's' : pattern_[i];
    at_ = end - 1;
  }

  void translate_escape(char escaped) {
    if (escaped == 's' || escaped == 'w') {
      const std::string members(escaped == 's' ? kSpaceClass : kWord);
      output_ += in_class_ ? members : '[' + members + ']';
    } else if (escaped == 'S') {
      output_ += in_class_ ? "\\S\\x{180E}" : "[^" + std::string(kSpaceClass) + ']';
    } else if (!in_class_ && escaped == 'W') {
      output_ += "[^" + std::string(kWord) + ']';
    } else if (!in_class_ && (escaped == 'b' || escaped == 'B')) {
      const std::string word = '[' + std::string(kWord) + ']';
      const bool boundary = escaped == 'b';
      output_ += "(?:(?<=" + word + ")" + (boundary ? "(?!" : "(?=") + word + ")|(?<!" + word + ")" +
                 (boundary ? "(?=" : "(?!") + word + "))";
    } else if (escaped == 'u' && at_ + 4 < pattern_.size()) {
      output_ += "\\x{" + std::string(pattern_.substr(at_ + 1, 4)) + '}';
      at_ += 4;
    } else if (is_ascii_alphanumeric(escaped) && kSameEscapes.find(escaped) == std::string_view::npos) {
      error_ = "escape \\" + std::string(1, escaped);
    } else {
      output_ += '\\';
      output_ += escaped;
    }
  }

  std::string_view pattern_;
  std::string output_;
  std::string error_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

base::Result<std::string> from_oniguruma(std::string_view pattern) {
  return Translator(pattern).run();
}

}  // namespace trireme::tokenizer
