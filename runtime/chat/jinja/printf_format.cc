#include "runtime/chat/jinja/printf_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

constexpr int kMaxPrecision = 100;

struct Spec {
  std::string flags;
  std::int64_t width = 0;
  int precision = -1;
  char conversion = 's';
  bool has(char flag) const { return flags.find(flag) != std::string::npos; }
};

class Formatter {
 public:
  Formatter(RenderContext& context, std::string_view format, const std::vector<Value>& arguments, const Dict* mapping)
      : context_(context), format_(format), arguments_(arguments), mapping_(mapping), out_(context) {}

  Value run() {
    while (position_ < format_.size()) {
      const std::size_t percent = std::min(format_.find('%', position_), format_.size());
      out_.append(format_.substr(position_, percent - position_));
      position_ = percent;
      if (percent < format_.size()) convert();
    }
    if (mapping_ == nullptr && next_ < arguments_.size()) fail("not all arguments converted during string formatting");
    return out_.value();
  }

 private:
  void convert() {
    ++position_;
    const Value* named = name();
    const Spec spec = read_spec();
    if (spec.conversion == '%') return out_.append("%");
    const Value& value = named != nullptr ? *named : next_argument();
    context_.charge();
    pad(spec, body(spec, value));
  }

  const Value* name() {
    if (peek() != '(') return nullptr;
    const std::size_t close = format_.find(')', position_);
    if (close == std::string_view::npos) fail("incomplete format key");
    if (mapping_ == nullptr) fail("format requires a mapping");
    const std::string_view key = format_.substr(position_ + 1, close - position_ - 1);
    const Value* value = mapping_->find(key);
    if (value == nullptr) fail(repr_of_text(key));
    position_ = close + 1;
    return value;
  }

  Spec read_spec() {
    Spec spec;
    for (; peek() == '-' || peek() == '+' || peek() == ' ' || peek() == '#' || peek() == '0'; ++position_) {
      spec.flags += peek();
    }
    spec.width = number();
    if (peek() == '.') {
      ++position_;
      spec.precision = static_cast<int>(std::min<std::int64_t>(number(), kMaxPrecision));
    }
    if (position_ >= format_.size()) fail("incomplete format");
    spec.conversion = format_[position_++];
    return spec;
  }

  std::int64_t number() {
    std::int64_t value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++position_)
      value = std::min<std::int64_t>(value * 10 + (peek() - '0'), 1 << 30);
    return value;
  }

  const Value& next_argument() {
    if (next_ >= arguments_.size()) fail("not enough arguments for format string");
    return arguments_[next_++];
  }

  std::string body(const Spec& spec, const Value& value) {
    switch (spec.conversion) {
      case 's': return shortened(spec, to_text(context_, value));
      case 'r': return shortened(spec, to_repr(context_, value));
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': return integer_body(spec, value);
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G': return float_body(spec, value);
      case 'c': return value.is_text() ? *value.text() : character(value);
      default: fail(std::string("unsupported format character '") + spec.conversion + "'");
    }
  }

  static std::string shortened(const Spec& spec, std::string text) {
    if (spec.precision < 0) return text;
    std::size_t bytes = 0;
    const auto parts = characters(text);
    for (std::size_t i = 0; i < parts.size() && i < static_cast<std::size_t>(spec.precision); ++i)
      bytes += parts[i].size();
    return text.substr(0, bytes);
  }

  static std::string character(const Value& value) {
    if (value.integer() == nullptr || *value.integer() < 0 || *value.integer() > 0x10FFFF)
      fail("%c requires int or char");
    std::string text;
    append_utf8(text, static_cast<char32_t>(*value.integer()));
    return text;
  }

  static Number number_of(const Spec& spec, const Value& value) {
    Number number;
    require_defined(value);
    if (!as_number(value, number)) {
      fail(std::string("%") + spec.conversion + " format: a real number is required, not " + type_name(value));
    }
    return number;
  }

  static std::string integer_body(const Spec& spec, const Value& value) {
    const Number number = number_of(spec, value);
    if (number.is_float && !(std::fabs(number.floating) < 9e18)) fail("cannot convert the float to an integer");
    const std::int64_t integer = number.is_float ? static_cast<std::int64_t>(number.floating) : number.integer;
    const std::uint64_t magnitude =
        integer < 0 ? 0 - static_cast<std::uint64_t>(integer) : static_cast<std::uint64_t>(integer);
    std::array<char, 32> buffer{};
    const char* format = spec.conversion == 'x'   ? "%lx"
                         : spec.conversion == 'X' ? "%lX"
                         : spec.conversion == 'o' ? "%lo"
                                                  : "%lu";
    std::snprintf(buffer.data(), buffer.size(), format, static_cast<unsigned long>(magnitude));
    std::string digits = buffer.data();
    if (spec.precision > static_cast<int>(digits.size())) {
      digits.insert(0, static_cast<std::size_t>(spec.precision) - digits.size(), '0');
    }
    return sign(spec, integer < 0) + digits;
  }

  static std::string float_body(const Spec& spec, const Value& value) {
    const Number number = number_of(spec, value);
    const char format[] = {'%', '.', '*', spec.conversion, '\0'};
    const int precision = spec.precision < 0 ? 6 : spec.precision;
    std::array<char, 512> buffer{};  // 309 digits and the precision fit
    std::snprintf(buffer.data(), buffer.size(), format, precision, std::fabs(number.floating));
    return sign(spec, std::signbit(number.floating)) + buffer.data();
  }

  static std::string sign(const Spec& spec, bool negative) {
    if (negative) return "-";
    if (spec.has('+')) return "+";
    return spec.has(' ') ? " " : "";
  }

  void pad(const Spec& spec, const std::string& text) {
    const std::int64_t missing = spec.width - static_cast<std::int64_t>(count_characters(text));
    const bool is_number = std::string_view("diuxXofFeEgG").find(spec.conversion) != std::string_view::npos;
    const bool zeros = spec.has('0') && !spec.has('-') && is_number;
    const std::size_t sign_size =
        zeros && !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
    out_.append(text.substr(0, sign_size));
    if (!spec.has('-')) out_.fill(missing, zeros ? "0" : " ");
    out_.append(text.substr(sign_size));
    if (spec.has('-')) out_.fill(missing, " ");
  }

  char peek() const { return position_ < format_.size() ? format_[position_] : '\0'; }

  RenderContext& context_;
  std::string_view format_;
  const std::vector<Value>& arguments_;
  const Dict* mapping_;
  TextBuilder out_;
  std::size_t position_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

Value printf_format(RenderContext& context, std::string_view format, const std::vector<Value>& arguments,
                    const Dict* mapping) {
  return Formatter(context, format, arguments, mapping).run();
}

}  // namespace trireme::chat::jinja
