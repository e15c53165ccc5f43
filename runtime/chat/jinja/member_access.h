// Attributes, elements and slices of values, in jinja2's order of precedence.
#pragma once

#include <string_view>

#include "runtime/chat/jinja/callable.h"
#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

// object.name: a method if there is one of this name, else an element. Undefined if neither is there; throws for an
// attribute of an undefined value.
Value get_attribute(RenderContext& context, const Value& object, std::string_view name);
// object[key]: an element, else a method.
Value get_element(RenderContext& context, const Value& object, const Value& key);
// object[start:stop:step] of text or a list; null: left out.
Value get_slice(RenderContext& context, const Value& object, const Value* start, const Value* stop, const Value* step);

// The method of this name that the object's type has, or null.
Function find_method(const Value& object, std::string_view name);

}  // namespace trireme::chat::jinja
