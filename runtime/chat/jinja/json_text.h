// Values from and to JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

// Keeps the order of keys. Does not count against the steps.
Value from_json(RenderContext& context, const nlohmann::ordered_json& json);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool has_indent = false;
  std::string indent;  // of one level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

// As Python's json.dumps writes it. Throws TemplateError for what is no JSON: undefined values, functions.
std::string to_json(RenderContext& context, const Value& value, const JsonStyle& style);

}  // namespace trireme::chat::jinja
