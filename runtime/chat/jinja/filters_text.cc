#include <array>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/printf_format.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/text_edit.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

// Filters on text take any value and see what it prints as.
std::string input_text(RenderContext& context, const Parameters& parameters) {
  std::string text = to_text(context, parameters.self());
  context.charge_bytes(text.size());
  return text;
}

Value trim(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "trim", {"value", "chars"});
  const std::string text = input_text(context, parameters);
  const std::string* set = parameters.has_value(1) ? parameters[1].text() : nullptr;
  return context.text(std::string(strip(text, set, Side::kBoth)));
}

Value upper(RenderContext& context, const Arguments& arguments) {
  return context.text(to_upper(input_text(context, Parameters(arguments, "upper", {"s"}))));
}

Value lower(RenderContext& context, const Arguments& arguments) {
  return context.text(to_lower(input_text(context, Parameters(arguments, "lower", {"s"}))));
}

Value capitalize(RenderContext& context, const Arguments& arguments) {
  return context.text(to_capitalized(input_text(context, Parameters(arguments, "capitalize", {"s"}))));
}

// Words are what lies between spaces, hyphens and opening brackets; other than in str.title, a letter behind an
// apostrophe stays small.
Value title(RenderContext& context, const Arguments& arguments) {
  const std::string text = input_text(context, Parameters(arguments, "title", {"s"}));
  std::string out;
  bool inside_word = false;
  for (const std::string_view character : characters(text)) {
    const bool separates =
        std::string_view("-({[<").find(character) != std::string_view::npos || is_space(first_code_point(character));
    out += inside_word ? to_lower(character) : to_upper(character);
    inside_word = !separates;
  }
  return context.text(std::move(out));
}

Value replace(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "replace", {"s", "old", "new", "count"}, 3);
  const std::string text = input_text(context, parameters);
  const std::string old = to_text(context, parameters[1]);
  const std::string replacement = to_text(context, parameters[2]);
  const std::int64_t count = parameters.has_value(3) ? parameters.integer(3, -1) : -1;
  return replace_text(context, text, old, replacement, count);
}

Value indent(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "indent", {"s", "width", "first", "blank"});
  const std::string text = input_text(context, parameters);
  TextBuilder prefix(context);
  if (parameters.has(1) && parameters[1].is_text()) {
    prefix.append(*parameters[1].text());
  } else {
    prefix.fill(parameters.integer(1, 4), " ");
  }
  const std::string margin = prefix.take();
  const bool first = parameters.flag(2, false), blank = parameters.flag(3, false);
  TextBuilder out(context);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const bool indents = begin == 0 ? first : blank || !line.empty();
    if (begin > 0) out.append("\n");
    if (indents) out.append(margin);
    out.append(line);
    begin = end + 1;
  }
  return out.value();
}

Value center(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "center", {"value", "width"});
  const std::string text = input_text(context, parameters);
  const std::int64_t missing = parameters.integer(1, 80) - static_cast<std::int64_t>(count_characters(text));
  TextBuilder out(context);
  out.fill(missing / 2, " ");
  out.append(text);
  out.fill(missing - missing / 2, " ");
  return out.value();
}

Value format(RenderContext& context, const Arguments& arguments) {
  const std::string text = to_text(context, arguments.positional[0]);
  if (arguments.named.empty()) {
    return printf_format(context, text, {arguments.positional.begin() + 1, arguments.positional.end()}, nullptr);
  }
  if (arguments.positional.size() > 1) fail("can't handle positional and keyword arguments at the same time");
  Dict* mapping = context.dict();
  for (const auto& [name, value] : arguments.named) mapping->set(context.text(name), value);
  return printf_format(context, text, {}, mapping);
}

Value escape(RenderContext& context, const Arguments& arguments) {
  const std::string text = input_text(context, Parameters(arguments, "escape", {"s"}));
  TextBuilder out(context);
  for (const char& c : text) {
    switch (c) {
      case '&': out.append("&amp;"); break;
      case '<': out.append("&lt;"); break;
      case '>': out.append("&gt;"); break;
      case '"': out.append("&#34;"); break;
      case '\'': out.append("&#39;"); break;
      default: out.append(std::string_view(&c, 1));
    }
  }
  return out.value();
}

Value wordcount(RenderContext& context, const Arguments& arguments) {
  const std::string text = input_text(context, Parameters(arguments, "wordcount", {"s"}));
  std::int64_t count = 0;
  bool inside = false;
  for (const std::string_view character : characters(text)) {
    const char32_t code_point = first_code_point(character);
    const bool is_word = is_alpha(code_point) || is_digit(code_point) || code_point == '_';
    count += is_word && !inside ? 1 : 0;
    inside = is_word;
  }
  return Value(count);
}

constexpr std::array kTextFilters = {
    Builtin{"trim", trim},     Builtin{"upper", upper},
    Builtin{"lower", lower},   Builtin{"capitalize", capitalize},
    Builtin{"title", title},   Builtin{"replace", replace},
    Builtin{"indent", indent}, Builtin{"center", center},
    Builtin{"format", format}, Builtin{"escape", escape},
    Builtin{"e", escape},      Builtin{"wordcount", wordcount},
};

}  // namespace

std::span<const Builtin> text_filters() {
  return kTextFilters;
}

}  // namespace trireme::chat::jinja
