#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "runtime/chat/jinja/json_text.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

void append_unicode_escape(char32_t unit, std::string& out) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x", static_cast<unsigned>(unit));
  out += buffer.data();
}

void append_code_point(char32_t code_point, std::string& out) {
  if (code_point < 0x10000) return append_unicode_escape(code_point, out);
  append_unicode_escape(0xD800 + ((code_point - 0x10000) >> 10), out);
  append_unicode_escape(0xDC00 + ((code_point - 0x10000) & 0x3FF), out);
}

std::string quoted(std::string_view text, bool ensure_ascii) {
  std::string out = "\"";
  for (const std::string_view character : characters(text)) {
    const char32_t code_point = first_code_point(character);
    switch (code_point) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (code_point < 0x20 || (ensure_ascii && code_point > 0x7F)) {
          append_code_point(code_point, out);
        } else {
          out += character;
        }
    }
  }
  return out + "\"";
}

class Writer {
 public:
  Writer(RenderContext& context, const JsonStyle& style) : context_(context), style_(style), out_(context) {}

  std::string run(const Value& value) {
    write(value);
    context_.charge_bytes(out_.size());
    return out_.take();
  }

 private:
  void write(const Value& value) {
    const DepthGuard guard(context_);
    context_.charge();
    if (const std::string* text = value.text()) {
      out_.append(quoted(*text, style_.ensure_ascii));
    } else if (const Dict* dict = value.dict(); dict != nullptr && dict->kind == Dict::Kind::kDict) {
      write_dict(*dict);
    } else if (const List* list = value.list(); list != nullptr && list->kind <= List::Kind::kTuple) {
      write_list(*list);
    } else {
      out_.append(scalar(value));
    }
  }

  static std::string scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (const bool* boolean = value.boolean()) return *boolean ? "true" : "false";
    if (const std::int64_t* integer = value.integer()) return std::to_string(*integer);
    if (const double* floating = value.floating()) {
      if (std::isnan(*floating)) return "NaN";
      if (std::isinf(*floating)) return *floating < 0 ? "-Infinity" : "Infinity";
      return float_text(*floating);
    }
    fail("Object of type " + type_name(value) + " is not JSON serializable");
  }

  void write_list(const List& list) {
    if (list.items.empty()) return out_.append("[]");
    out_.append("[");
    ++level_;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      begin_item(i == 0);
      write(list.items[i]);
    }
    end_items();
    out_.append("]");
  }

  void write_dict(const Dict& dict) {
    if (dict.entries().empty()) return out_.append("{}");
    std::vector<std::pair<std::string, const Value*>> entries;
    for (const auto& [key, value] : dict.entries()) entries.emplace_back(key_text(key), &value);
    if (style_.sort_keys) {
      context_.charge(entries.size());
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    out_.append("{");
    ++level_;
    bool first = true;
    for (const auto& [key, value] : entries) {
      begin_item(first);
      first = false;
      out_.append(quoted(key, style_.ensure_ascii));
      out_.append(style_.key_separator);
      write(*value);
    }
    end_items();
    out_.append("}");
  }

  static std::string key_text(const Value& key) {
    if (key.is_text()) return *key.text();
    if (key.list() != nullptr || key.dict() != nullptr) {
      fail("keys must be str, int, float, bool or None, not " + type_name(key));
    }
    return scalar(key);
  }

  void begin_item(bool is_first) {
    if (!is_first) out_.append(style_.item_separator);
    new_line();
  }

  void end_items() {
    --level_;
    new_line();
  }

  void new_line() {
    if (!style_.has_indent) return;
    out_.append("\n");
    out_.fill(level_, style_.indent);
  }

  RenderContext& context_;
  const JsonStyle& style_;
  TextBuilder out_;
  std::int64_t level_ = 0;
};

}  // namespace

std::string to_json(RenderContext& context, const Value& value, const JsonStyle& style) {
  return Writer(context, style).run(value);
}

}  // namespace trireme::chat::jinja
