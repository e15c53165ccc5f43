// What sort, unique, min and max compare: an item or an attribute of it, text without regard to case unless told.
#pragma once

#include <utility>
#include <vector>

#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

// "a.b.0" of an item, as map(attribute=…), selectattr and sort understand it. Digits are indices.
Value attribute_path(RenderContext& context, const Value& item, const Value& path);

// `attribute`: null or none for the item itself.
Value sort_key(RenderContext& context, const Value& item, const Value* attribute, bool case_sensitive);

// The second of each pair, ordered by the first. Stable, in reverse too; charged.
std::vector<Value> sorted_by_key(RenderContext& context, const std::vector<std::pair<Value, Value>>& keyed,
                                 bool reverse);

}  // namespace trireme::chat::jinja
