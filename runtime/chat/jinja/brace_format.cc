#include "runtime/chat/jinja/brace_format.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "runtime/chat/jinja/member_access.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/printf_format.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

// [[fill]align][sign][0][width][,][.precision][type]
struct FormatSpec {
  std::string fill = " ";
  char align = '\0';
  char sign = '-';
  std::int64_t width = 0;
  bool groups = false;
  std::string precision;
  char type = '\0';
};

bool is_align(std::string_view character) {
  return character == "<" || character == ">" || character == "^";
}

// Digits at the start of `text`, which loses them.
std::string_view take_digits(std::string_view& text) {
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

FormatSpec parse_spec(std::string_view text) {
  FormatSpec spec;
  const auto parts = characters(text.substr(0, std::min<std::size_t>(text.size(), 8)));
  if (parts.size() > 1 && is_align(parts[1])) {
    spec.fill = parts[0];
    spec.align = parts[1][0];
    text.remove_prefix(parts[0].size() + 1);
  } else if (!parts.empty() && is_align(parts[0])) {
    spec.align = parts[0][0];
    text.remove_prefix(1);
  }
  for (const char sign : {'+', '-', ' '}) {
    if (take(text, sign)) spec.sign = sign;
  }
  if (take(text, '0') && spec.align == '\0') {
    spec.fill = "0";
    spec.align = '=';
  }
  const std::string_view width = take_digits(text);
  if (width.size() > 9) fail("Too many decimal digits in format string");
  std::from_chars(width.data(), width.data() + width.size(), spec.width);
  spec.groups = take(text, ',');
  if (take(text, '.')) spec.precision = "." + std::string(take_digits(text).substr(0, 3));
  if (text.size() == 1) spec.type = text[0];
  if (text.size() > 1) fail("Invalid format specifier");
  return spec;
}

void insert_groups(std::string& number) {
  const std::size_t begin = number.find_first_of("0123456789");
  const std::size_t end = std::min(number.find_first_not_of("0123456789", begin), number.size());
  for (std::size_t at = end; at > begin + 3; at -= 3) number.insert(at - 3, ",");
}

std::string printed(RenderContext& context, const std::string& format, const Value& value) {
  return *printf_format(context, format, {value}, nullptr).text();
}

std::string body(RenderContext& context, const FormatSpec& spec, const Value& value) {
  Number number;
  const bool is_number = as_number(value, number) && value.boolean() == nullptr;
  if (!is_number || spec.type == 's') {
    if (spec.type != '\0' && spec.type != 's')
      fail(std::string("Unknown format code '") + spec.type + "' for object of type 'str'");
    return printed(context, "%" + spec.precision + "s", value);
  }
  std::string text;
  const std::string flag = spec.sign == '-' ? "" : std::string(1, spec.sign);
  if (spec.type == '\0' && spec.precision.empty()) {
    text = to_text(context, value);
    if (text[0] != '-') text = flag + text;
  } else {
    const char type = spec.type == '\0' ? 'g' : spec.type;
    if (std::string_view("dxXofFeEgG").find(type) == std::string_view::npos)
      fail(std::string("Unknown format code '") + type + "'");
    text = printed(context, "%" + flag + spec.precision + type, value);
  }
  if (spec.groups) insert_groups(text);
  return text;
}

class BraceFormatter {
 public:
  BraceFormatter(RenderContext& context, const Arguments& arguments)
      : context_(context), arguments_(arguments), text_(*arguments.positional[0].text()), out_(context) {}

  Value run() {
    while (position_ < text_.size()) {
      const std::size_t brace = std::min(text_.find_first_of("{}", position_), text_.size());
      out_.append(text_.substr(position_, brace - position_));
      position_ = brace;
      if (brace == text_.size()) break;
      if (text_.substr(brace, 2) == "{{" || text_.substr(brace, 2) == "}}") {
        out_.append(text_.substr(brace, 1));
        position_ += 2;
      } else if (text_[brace] == '}') {
        fail("Single '}' encountered in format string");
      } else {
        replace_field();
      }
    }
    return out_.value();
  }

 private:
  void replace_field() {
    const std::size_t close = text_.find('}', position_);
    if (position_ + 1 == text_.size()) fail("Single '{' encountered in format string");
    if (close == std::string_view::npos) fail("expected '}' before end of string");
    const std::string_view field = text_.substr(position_ + 1, close - position_ - 1);
    if (field.find('{') != std::string_view::npos) fail("nested replacement fields are not supported");
    position_ = close + 1;
    const std::size_t name_end = std::min(field.find_first_of("!:"), field.size());
    std::string_view rest = field.substr(name_end);
    Value value = lookup(field.substr(0, name_end));
    if (take(rest, '!')) {
      if (take(rest, 'r')) {
        value = context_.text(to_repr(context_, value));
      } else if (take(rest, 's')) {
        value = context_.text(to_text(context_, value));
      } else {
        fail("unknown conversion specifier");
      }
    }
    take(rest, ':');
    context_.charge();
    pad(parse_spec(rest), value);
  }

  Value lookup(std::string_view path) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    Value value = first_of_path(path.substr(0, end));
    path.remove_prefix(end);
    while (!path.empty()) {
      const bool is_element = path[0] == '[';
      const std::size_t stop = std::min(is_element ? path.find(']') : path.find_first_of(".[", 1), path.size());
      const std::string_view name = path.substr(1, stop - 1);
      std::string_view rest = name;
      const bool is_index = !take_digits(rest).empty() && rest.empty() && name.size() < 10;
      if (!is_element) {
        value = get_attribute(context_, value, name);
      } else {
        value = get_element(
            context_, value,
            is_index ? Value(std::int64_t{std::stoi(std::string(name))}) : context_.text(std::string(name)));
      }
      path.remove_prefix(std::min(stop + (is_element ? 1 : 0), path.size()));
    }
    return value;
  }

  Value first_of_path(std::string_view name) {
    std::string_view rest = name;
    const std::string_view digits = take_digits(rest);
    if (!rest.empty()) {
      for (const auto& [known, value] : arguments_.named) {
        if (known == name) return value;
      }
      fail(repr_of_text(name));
    }
    std::size_t index = next_;
    if (digits.empty()) {
      ++next_;
    } else if (digits.size() > 9) {
      fail("Too many decimal digits in format string");
    } else {
      std::from_chars(digits.data(), digits.data() + digits.size(), index);
    }
    if (index + 1 >= arguments_.positional.size()) {
      fail("tuple index out of range");
    }
    return arguments_.positional[index + 1];
  }

  void pad(const FormatSpec& spec, const Value& value) {
    Number number;
    const bool is_number = as_number(value, number);
    const std::string text = body(context_, spec, value);
    const std::int64_t missing =
        std::max<std::int64_t>(spec.width - static_cast<std::int64_t>(count_characters(text)), 0);
    const char align = spec.align == '\0' ? (is_number ? '>' : '<') : spec.align;
    const std::size_t sign =
        align == '=' && !text.empty() && std::string_view("+- ").find(text[0]) != std::string_view::npos ? 1 : 0;
    const std::int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    out_.append(text.substr(0, sign));
    out_.fill(left, spec.fill);
    out_.append(text.substr(sign));
    out_.fill(missing - left, spec.fill);
  }

  RenderContext& context_;
  const Arguments& arguments_;
  std::string_view text_;
  TextBuilder out_;
  std::size_t position_ = 0;
  std::size_t next_ = 0;  // of the fields without a number
};

}  // namespace

Value brace_format(RenderContext& context, const Arguments& arguments) {
  return BraceFormatter(context, arguments).run();
}

}  // namespace trireme::chat::jinja
