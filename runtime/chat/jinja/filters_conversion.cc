#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/json_text.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/text_edit.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

template <typename Number, typename... Format>
std::optional<Number> parse_number(std::string_view text, Format... format) {
  text = strip(text, nullptr, Side::kBoth);
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  if (plus) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, format...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Value to_int(RenderContext&, const Arguments& arguments) {
  const Parameters parameters(arguments, "int", {"value", "default", "base"});
  const Value otherwise = parameters.has(1) ? parameters[1] : Value(std::int64_t{0});
  Number number;
  if (const std::string* text = parameters.self().text()) {
    const auto base = static_cast<int>(parameters.integer(2, 10));
    if (base < 2 || base > 36) fail("int() base must be >= 2 and <= 36, or 0");
    std::string_view digits = *text;
    if (base == 16 && (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X")) digits.remove_prefix(2);
    if (const auto integer = parse_number<std::int64_t>(digits, base)) return Value(*integer);
    const auto floating = parse_number<double>(*text);
    if (!floating) return otherwise;
    number = {true, 0, *floating};
  } else if (!as_number(parameters.self(), number)) {
    require_defined(parameters.self());
    return otherwise;
  }
  if (!number.is_float) return Value(number.integer);
  if (!(std::fabs(number.floating) < 9.2e18)) return otherwise;
  return Value(static_cast<std::int64_t>(number.floating));
}

Value to_float(RenderContext&, const Arguments& arguments) {
  const Parameters parameters(arguments, "float", {"value", "default"});
  Number number;
  if (as_number(parameters.self(), number)) return Value(number.floating);
  require_defined(parameters.self());
  if (const std::string* text = parameters.self().text()) {
    if (const auto floating = parse_number<double>(*text)) return Value(*floating);
  }
  return parameters.has(1) ? parameters[1] : Value(0.0);
}

Value to_string(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "string", {"value"});
  return parameters.self().is_text() ? parameters.self() : context.text(to_text(context, parameters.self()));
}

Value use_default(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "default", {"value", "default_value", "boolean"});
  const bool replaces = parameters.self().is_undefined() || (parameters.flag(2, false) && !truthy(parameters.self()));
  if (!replaces) return parameters.self();
  return parameters.has(1) ? parameters[1] : context.text("");
}

Value absolute(RenderContext&, const Arguments& arguments) {
  const Parameters parameters(arguments, "abs", {"x"});
  Number number;
  require_defined(parameters.self());
  if (!as_number(parameters.self(), number)) fail("bad operand type for abs(): '" + type_name(parameters.self()) + "'");
  if (number.is_float) return Value(std::fabs(number.floating));
  return number.integer < 0 ? negate(Value(number.integer)) : Value(number.integer);
}

// Python rounds the decimal value exactly, ties to even; so does the C library when it prints.
double round_to(double value, int precision) {
  if (precision > 300 || !std::isfinite(value)) return value;
  if (precision < 0) {
    const double scale = std::pow(10.0, -precision);
    return std::nearbyint(value / scale) * scale;
  }
  std::array<char, 700> buffer{};
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, precision);
  double rounded = value;
  std::from_chars(buffer.data(), result.ptr, rounded);
  return rounded;
}

Value round_number(RenderContext&, const Arguments& arguments) {
  const Parameters parameters(arguments, "round", {"value", "precision", "method"});
  Number number;
  require_defined(parameters.self());
  if (!as_number(parameters.self(), number)) {
    fail("type " + type_name(parameters.self()) + " doesn't define __round__ method");
  }
  const std::int64_t precision = parameters.integer(1, 0);
  const std::string_view method = parameters.text(2, "common");
  if (precision < -300 || precision > 300) fail("round() supports a precision of -300 to 300");
  if (method == "common") {
    if (!number.is_float && precision >= 0) return Value(number.integer);
    const double rounded = round_to(number.floating, static_cast<int>(precision));
    return number.is_float ? Value(rounded) : Value(static_cast<std::int64_t>(rounded));
  }
  if (method != "ceil" && method != "floor") fail("method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = number.floating * scale;
  return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

void read_separators(const Value& value, JsonStyle& style) {
  const List* list = value.list();
  if (list == nullptr || list->items.size() != 2 || !list->items[0].is_text() || !list->items[1].is_text()) {
    fail("separators must be a pair of strings");
  }
  style.item_separator = *list->items[0].text();
  style.key_separator = *list->items[1].text();
}

// The filter that transformers puts in place of jinja2's: plain json.dumps, without escapes for HTML.
Value tojson(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "tojson", {"x", "ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = parameters.flag(1, false);
  style.sort_keys = parameters.flag(4, false);
  if (parameters.has_value(2)) {
    style.has_indent = true;
    style.item_separator = ",";
    TextBuilder level(context);
    if (parameters[2].is_text()) {
      level.append(*parameters[2].text());
    } else {
      level.fill(parameters.integer(2, 0), " ");
    }
    style.indent = level.take();
  }
  if (parameters.has_value(3)) read_separators(parameters[3], style);
  return context.text(to_json(context, parameters.self(), style));
}

Value as_is(RenderContext& context, const Arguments& arguments) {
  return to_string(context, arguments);
}

constexpr std::array kConversionFilters = {
    Builtin{"int", to_int},          Builtin{"float", to_float}, Builtin{"string", to_string},
    Builtin{"default", use_default}, Builtin{"d", use_default},  Builtin{"abs", absolute},
    Builtin{"round", round_number},  Builtin{"tojson", tojson},  Builtin{"safe", as_is},
};

}  // namespace

std::span<const Builtin> conversion_filters() {
  return kConversionFilters;
}

}  // namespace trireme::chat::jinja
