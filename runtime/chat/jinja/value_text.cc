#include "runtime/chat/jinja/value_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "runtime/chat/jinja/callable.h"
#include "runtime/chat/jinja/utf8.h"

namespace trireme::chat::jinja {
namespace {

void append_repr(RenderContext& context, const Value& value, TextBuilder& out);

void append_items(RenderContext& context, const std::vector<Value>& items, TextBuilder& out) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(context, items[i], out);
  }
}

void append_range(const List& range, TextBuilder& out) {
  const auto item = [&range](std::size_t i) { return *range.items[i].integer(); };
  const std::size_t size = range.items.size();
  const std::int64_t start = size > 0 ? item(0) : 0;
  const std::int64_t step = size > 1 ? item(1) - item(0) : 1;
  const std::int64_t stop = size > 0 ? item(size - 1) + step : 0;
  out.append("range(" + std::to_string(start) + ", " + std::to_string(stop));
  if (step != 1) out.append(", " + std::to_string(step));
  out.append(")");
}

void append_list(RenderContext& context, const List& list, TextBuilder& out) {
  if (list.kind == List::Kind::kRange) return append_range(list, out);
  if (list.kind == List::Kind::kGenerator) return out.append("<generator object>");
  const bool is_tuple = list.kind == List::Kind::kTuple;
  const bool is_view = list.kind != List::Kind::kList && !is_tuple;
  if (is_view) out.append(type_name(Value(const_cast<List*>(&list))) + "(");
  out.append(is_tuple ? "(" : "[");
  append_items(context, list.items, out);
  if (is_tuple && list.items.size() == 1) out.append(",");
  out.append(is_tuple ? ")" : "]");
  if (is_view) out.append(")");
}

void append_dict(RenderContext& context, const Dict& dict, TextBuilder& out) {
  const bool is_namespace = dict.kind == Dict::Kind::kNamespace;
  out.append(is_namespace ? "<Namespace {" : "{");
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) out.append(", ");
    first = false;
    append_repr(context, key, out);
    out.append(": ");
    append_repr(context, value, out);
  }
  out.append(is_namespace ? "}>" : "}");
}

void append_repr(RenderContext& context, const Value& value, TextBuilder& out) {
  const DepthGuard guard(context);
  context.charge();
  if (const std::string* text = value.text()) {
    out.append(repr_of_text(*text));
  } else if (const List* list = value.list()) {
    append_list(context, *list, out);
  } else if (const Dict* dict = value.dict()) {
    append_dict(context, *dict, out);
  } else {
    out.append(value.is_undefined() ? "Undefined" : to_text(context, value));
  }
}

char quote_for(std::string_view text) {
  return text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
}

void append_escaped(std::string_view character, std::string& out) {
  const char32_t code_point = first_code_point(character);
  std::array<char, 16> buffer{};
  const char* format = code_point < 0x100 ? "\\x%02x" : code_point < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(buffer.data(), buffer.size(), format, static_cast<unsigned>(code_point));
  out += buffer.data();
}

}  // namespace

std::string to_text(RenderContext& context, const Value& value) {
  if (const std::string* text = value.text()) return *text;
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const bool* boolean = value.boolean()) return *boolean ? "True" : "False";
  if (const std::int64_t* integer = value.integer()) return std::to_string(*integer);
  if (const double* floating = value.floating()) return float_text(*floating);
  if (value.list() != nullptr || value.dict() != nullptr) return to_repr(context, value);
  if (const Loop* loop = value.loop()) {
    return "<LoopContext " + std::to_string(loop->index + 1) + "/" + std::to_string(loop->items->size()) + ">";
  }
  return "<" + type_name(value) + ">";
}

std::string to_repr(RenderContext& context, const Value& value) {
  TextBuilder out(context);
  append_repr(context, value, out);
  context.charge_bytes(out.size());
  return out.take();
}

// The shortest digits that read back the same; an exponent below -4 and from 16 on, as Python chooses.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0.0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  std::string text(buffer.data(), result.ptr);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string repr_of_text(std::string_view text) {
  const char quote = quote_for(text);
  std::string out(1, quote);
  for (const std::string_view character : characters(text)) {
    const char c = character[0];
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\\' || c == quote) {
      out += '\\';
      out += c;
    } else if (character.size() > 1 || static_cast<unsigned char>(c) < 0x80) {
      if (is_printable(first_code_point(character))) {
        out += character;
      } else {
        append_escaped(character, out);
      }
    } else {
      out += character;
    }
  }
  return out + quote;
}

}  // namespace trireme::chat::jinja
