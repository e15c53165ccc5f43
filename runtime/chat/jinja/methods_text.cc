// Methods of str that look at or change a text as a whole.
#include <algorithm>
#include <array>

#include "runtime/chat/jinja/brace_format.h"
#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/text_edit.h"
#include "runtime/chat/jinja/text_search.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

const std::string& self_text(RenderContext& context, const Arguments& arguments) {
  const std::string& text = *arguments.positional[0].text();
  context.charge_bytes(text.size());
  return text;
}

template <Side side>
Value strip_side(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "strip", {"self", "chars"});
  if (parameters.has_value(1)) parameters.text(1, "");
  const std::string* set = parameters.has_value(1) ? parameters[1].text() : nullptr;
  return context.text(std::string(strip(self_text(context, arguments), set, side)));
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (const std::string_view character : characters(text)) {
    out += is_upper(first_code_point(character)) ? to_lower(character) : to_upper(character);
  }
  return out;
}

template <std::string (*change)(std::string_view)>
Value changed(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "str method", {"self"});
  return context.text(change(self_text(context, arguments)));
}

template <bool (*has_property)(char32_t)>
Value all_characters(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "str method", {"self"});
  const auto parts = characters(self_text(context, arguments));
  return Value(!parts.empty() && std::all_of(parts.begin(), parts.end(), [](std::string_view character) {
    return has_property(first_code_point(character));
  }));
}

bool is_alnum(char32_t code_point) {
  return is_alpha(code_point) || is_digit(code_point);
}

template <bool (*has_case)(char32_t), bool (*other_case)(char32_t)>
Value is_cased(RenderContext& context, const Arguments& arguments) {
  bool found = false;
  for (const std::string_view character : characters(self_text(context, arguments))) {
    if (other_case(first_code_point(character))) return Value(false);
    found |= has_case(first_code_point(character));
  }
  return Value(found);
}

// The part between the optional character positions start and end, and the byte where it begins.
std::string_view window(const Parameters& parameters, std::string_view text, std::size_t first_index,
                        std::size_t& begin) {
  begin = 0;
  if (!parameters.has_value(first_index) && !parameters.has_value(first_index + 1)) return text;
  const auto parts = characters(text);
  const auto size = static_cast<std::int64_t>(parts.size());
  const auto bound = [&](std::size_t index, std::int64_t otherwise) {
    const std::int64_t place = parameters.has_value(index) ? parameters.integer(index, 0) : otherwise;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(place < 0 ? place + size : place, 0, size));
  };
  const std::size_t start = bound(first_index, 0), end = std::max(start, bound(first_index + 1, size));
  const auto offset = [&](std::size_t index) {
    return index == parts.size() ? text.size() : static_cast<std::size_t>(parts[index].data() - text.data());
  };
  begin = offset(start);
  return text.substr(begin, offset(end) - begin);
}

// startswith and endswith: one text or a tuple of them.
Value matches_end(RenderContext& context, const Arguments& arguments, bool at_start) {
  const Parameters parameters(arguments, at_start ? "startswith" : "endswith", {"self", "prefix", "start", "end"}, 2);
  std::size_t begin = 0;
  const std::string_view text = window(parameters, self_text(context, arguments), 2, begin);
  const auto matches = [&](const Value& value) {
    require_defined(value);
    if (!value.is_text())
      fail(std::string(at_start ? "startswith" : "endswith") + " first arg must be str or a tuple of str, not " +
           type_name(value));
    return at_start ? text.starts_with(*value.text()) : text.ends_with(*value.text());
  };
  const List* several = parameters[1].list();
  if (several == nullptr || several->kind != List::Kind::kTuple) return Value(matches(parameters[1]));
  return Value(std::any_of(several->items.begin(), several->items.end(), matches));
}

Value startswith(RenderContext& context, const Arguments& arguments) {
  return matches_end(context, arguments, true);
}
Value endswith(RenderContext& context, const Arguments& arguments) {
  return matches_end(context, arguments, false);
}

std::size_t find_last(std::string_view text, std::string_view needle) {
  std::size_t last = std::string_view::npos;
  if (needle.empty()) return text.size();
  for (std::size_t at = find_text(text, needle); at != std::string_view::npos; at = find_text(text, needle, at + 1))
    last = at;
  return last;
}

// Position in characters, or -1.
std::int64_t position_of(RenderContext& context, const Arguments& arguments, bool from_end) {
  const Parameters parameters(arguments, "find", {"self", "sub", "start", "end"}, 2);
  const std::string_view whole = self_text(context, arguments);
  std::size_t begin = 0;
  const std::string_view text = window(parameters, whole, 2, begin);
  const std::string_view needle = parameters.text(1, "");
  const std::size_t at = from_end ? find_last(text, needle) : find_text(text, needle);
  if (at == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(count_characters(whole.substr(0, begin + at)));
}

Value find(RenderContext& context, const Arguments& arguments) {
  return Value(position_of(context, arguments, false));
}
Value rfind(RenderContext& context, const Arguments& arguments) {
  return Value(position_of(context, arguments, true));
}

Value index(RenderContext& context, const Arguments& arguments) {
  const std::int64_t position = position_of(context, arguments, false);
  if (position < 0) fail("substring not found");
  return Value(position);
}

Value count(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "count", {"self", "sub"}, 2);
  const std::string& text = self_text(context, arguments);
  const std::string_view needle = parameters.text(1, "");
  if (needle.empty()) return Value(static_cast<std::int64_t>(count_characters(text)) + 1);
  std::int64_t found = 0;
  for (std::size_t at = find_text(text, needle); at != std::string_view::npos;
       at = find_text(text, needle, at + needle.size()))
    ++found;
  return Value(found);
}

Value replace(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "replace", {"self", "old", "new", "count"}, 3);
  return replace_text(context, self_text(context, arguments), parameters.text(1, ""), parameters.text(2, ""),
                      parameters.integer(3, -1));
}

Value join(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "join", {"self", "iterable"}, 2);
  TextBuilder out(context);
  std::size_t position = 0;
  for (const Value& item : iterate(context, parameters[1])) {
    if (!item.is_text()) {
      fail("sequence item " + std::to_string(position) + ": expected str instance, " + type_name(item) + " found");
    }
    if (position++ > 0) out.append(*parameters.self().text());
    out.append(*item.text());
  }
  return out.value();
}

Value removeprefix(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "removeprefix", {"self", "prefix"}, 2);
  std::string_view text = self_text(context, arguments);
  if (text.starts_with(parameters.text(1, ""))) text.remove_prefix(parameters.text(1, "").size());
  return context.text(std::string(text));
}

Value removesuffix(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "removesuffix", {"self", "suffix"}, 2);
  std::string_view text = self_text(context, arguments);
  if (text.ends_with(parameters.text(1, ""))) text.remove_suffix(parameters.text(1, "").size());
  return context.text(std::string(text));
}

// ljust, rjust and center; Python puts the odd space of center to the left where the width is odd.
template <Side text_side>
Value justify(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "justify", {"self", "width", "fillchar"}, 2);
  const std::string& text = self_text(context, arguments);
  const std::string_view fill = parameters.text(2, " ");
  if (count_characters(fill) != 1) fail("The fill character must be exactly one character long");
  const std::int64_t width = std::min<std::int64_t>(parameters.integer(1, 0), INT32_MAX);
  const std::int64_t missing = std::max<std::int64_t>(width - static_cast<std::int64_t>(count_characters(text)), 0);
  std::int64_t left = text_side == Side::kLeft ? 0 : missing;
  if (text_side == Side::kBoth) left = missing / 2 + (missing & width & 1);
  TextBuilder out(context);
  out.fill(left, fill);
  out.append(text);
  out.fill(missing - left, fill);
  return out.value();
}

Value zfill(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "zfill", {"self", "width"}, 2);
  const std::string& text = self_text(context, arguments);
  const std::int64_t missing =
      std::min<std::int64_t>(parameters.integer(1, 0), INT32_MAX) - static_cast<std::int64_t>(count_characters(text));
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  TextBuilder out(context);
  out.append(text.substr(0, sign));
  out.fill(missing, "0");
  out.append(text.substr(sign));
  return out.value();
}

constexpr std::array kTextMethods = {
    Builtin{"strip", strip_side<Side::kBoth>},
    Builtin{"lstrip", strip_side<Side::kLeft>},
    Builtin{"rstrip", strip_side<Side::kRight>},
    Builtin{"upper", changed<to_upper>},
    Builtin{"lower", changed<to_lower>},
    Builtin{"casefold", changed<to_lower>},
    Builtin{"capitalize", changed<to_capitalized>},
    Builtin{"title", changed<title_case>},
    Builtin{"swapcase", changed<swap_case>},
    Builtin{"format", brace_format},
    Builtin{"isdigit", all_characters<is_digit>},
    Builtin{"isnumeric", all_characters<is_digit>},
    Builtin{"isdecimal", all_characters<is_digit>},
    Builtin{"isalpha", all_characters<is_alpha>},
    Builtin{"isalnum", all_characters<is_alnum>},
    Builtin{"isspace", all_characters<is_space>},
    Builtin{"isupper", is_cased<is_upper, is_lower>},
    Builtin{"islower", is_cased<is_lower, is_upper>},
    Builtin{"startswith", startswith},
    Builtin{"endswith", endswith},
    Builtin{"find", find},
    Builtin{"rfind", rfind},
    Builtin{"index", index},
    Builtin{"count", count},
    Builtin{"replace", replace},
    Builtin{"join", join},
    Builtin{"removeprefix", removeprefix},
    Builtin{"removesuffix", removesuffix},
    Builtin{"ljust", justify<Side::kLeft>},
    Builtin{"rjust", justify<Side::kRight>},
    Builtin{"center", justify<Side::kBoth>},
    Builtin{"zfill", zfill},
};

}  // namespace

std::span<const Builtin> text_methods() {
  return kTextMethods;
}

}  // namespace trireme::chat::jinja
