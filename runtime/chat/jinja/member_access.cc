#include "runtime/chat/jinja/member_access.h"

#include <algorithm>
#include <memory>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

// The loop variable's fields; false for an unknown name.
bool loop_field(const Loop& loop, std::string_view name, Value& value) {
  if (loop.items == nullptr) fail("a loop variable was used outside of its loop");
  const std::vector<Value>& items = *loop.items;
  const auto index = static_cast<std::int64_t>(loop.index);
  const auto size = static_cast<std::int64_t>(items.size());
  const bool has_next = loop.index + 1 < items.size();
  if (name == "index") {
    value = Value(index + 1);
  } else if (name == "index0") {
    value = Value(index);
  } else if (name == "revindex") {
    value = Value(size - index);
  } else if (name == "revindex0") {
    value = Value(size - index - 1);
  } else if (name == "first") {
    value = Value(index == 0);
  } else if (name == "last") {
    value = Value(!has_next);
  } else if (name == "length") {
    value = Value(size);
  } else if (name == "depth") {
    value = Value(std::int64_t{1});  // only recursive loops go deeper
  } else if (name == "depth0") {
    value = Value(std::int64_t{0});
  } else if (name == "previtem") {
    value = index > 0 ? items[loop.index - 1] : Value(undefined_because("there is no previous item"));
  } else if (name == "nextitem") {
    value = has_next ? items[loop.index + 1] : Value(undefined_because("there is no next item"));
  } else {
    return false;
  }
  return true;
}

Value bind(RenderContext& context, const Value& object, Function method) {
  return context.callable(std::make_unique<BoundMethod>(object, method));
}

// A negative index counts from the end; false if there is no such element.
bool resolve_index(std::int64_t index, std::size_t size, std::size_t& position) {
  if (index < 0) index += static_cast<std::int64_t>(size);
  if (index < 0 || index >= static_cast<std::int64_t>(size)) return false;
  position = static_cast<std::size_t>(index);
  return true;
}

Value element_at(RenderContext& context, const Value& object, std::int64_t index) {
  std::size_t position = 0;
  if (const List* list = object.list()) {
    if (list->kind <= List::Kind::kRange && resolve_index(index, list->items.size(), position)) {
      return list->items[position];
    }
  } else if (const std::string* text = object.text()) {
    context.charge_bytes(text->size());
    const auto parts = characters(*text);
    if (resolve_index(index, parts.size(), position)) return context.text(std::string(parts[position]));
  }
  return undefined_element(object, std::to_string(index));
}

std::int64_t slice_bound(const Value* value, std::int64_t size, std::int64_t low, std::int64_t high,
                         std::int64_t otherwise) {
  if (value == nullptr || value->is_none()) return otherwise;
  require_defined(*value);
  Number number;
  if (!as_number(*value, number) || number.is_float) {
    fail("slice indices must be integers or None or have an __index__ method");
  }
  const std::int64_t bound = number.integer < 0 ? number.integer + size : number.integer;
  return std::clamp(bound, low, high);
}

// The indices that a slice picks, as Python does.
std::vector<std::size_t> slice_indices(std::size_t num_items, const Value* start, const Value* stop,
                                       const Value* step) {
  const auto size = static_cast<std::int64_t>(num_items);
  Number stride{false, 1, 1.0};
  if (step != nullptr && !step->is_none() && (!as_number(*step, stride) || stride.is_float)) {
    fail("slice indices must be integers or None or have an __index__ method");
  }
  if (stride.integer == 0) fail("slice step cannot be zero");
  const bool forward = stride.integer > 0;
  const std::int64_t stride_size = std::clamp(stride.integer, -size - 1, size + 1);
  const std::int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  const std::int64_t begin = slice_bound(start, size, low, high, forward ? low : high);
  const std::int64_t end = slice_bound(stop, size, low, high, forward ? high : low);
  std::vector<std::size_t> indices;
  for (std::int64_t i = begin; forward ? i < end : i > end; i += stride_size) {
    indices.push_back(static_cast<std::size_t>(i));
  }
  return indices;
}

}  // namespace

Function find_method(const Value& object, std::string_view name) {
  if (object.is_text()) {
    const Function method = find_builtin(text_methods(), name);
    return method != nullptr ? method : find_builtin(text_split_methods(), name);
  }
  if (object.loop() != nullptr) return find_builtin(loop_methods(), name);
  if (const Dict* dict = object.dict()) {
    return dict->kind == Dict::Kind::kDict ? find_builtin(dict_methods(), name) : nullptr;
  }
  if (const List* list = object.list()) {
    if (list->kind == List::Kind::kList) return find_builtin(list_methods(), name);
    if (list->kind == List::Kind::kTuple) return find_builtin(tuple_methods(), name);
  }
  return nullptr;
}

Value get_attribute(RenderContext& context, const Value& object, std::string_view name) {
  require_defined(object);
  if (const Function method = find_method(object, name)) return bind(context, object, method);
  if (const Loop* loop = object.loop()) {
    Value value;
    if (loop_field(*loop, name, value)) return value;
  }
  if (const Dict* dict = object.dict()) {
    if (const Value* value = dict->find(name)) return *value;
  }
  return undefined_attribute(object, name);
}

Value get_element(RenderContext& context, const Value& object, const Value& key) {
  require_defined(object);
  if (const Dict* dict = object.dict()) {
    if (const Value* value = dict->find(key)) return *value;
  } else if (Number index; as_number(key, index) && !index.is_float) {
    return element_at(context, object, index.integer);
  }
  if (key.is_text()) return get_attribute(context, object, *key.text());
  return undefined_element(object, to_repr(context, key));
}

Value get_slice(RenderContext& context, const Value& object, const Value* start, const Value* stop, const Value* step) {
  require_defined(object);
  if (const std::string* text = object.text()) {
    context.charge_bytes(text->size());
    const auto parts = characters(*text);
    TextBuilder slice(context);
    for (const std::size_t i : slice_indices(parts.size(), start, stop, step)) slice.append(parts[i]);
    return slice.value();
  }
  const List* list = object.list();
  if (list == nullptr || list->kind > List::Kind::kRange) {
    const auto part = [&](const Value* bound) { return bound == nullptr ? "None" : to_repr(context, *bound); };
    return undefined_element(object, "slice(" + part(start) + ", " + part(stop) + ", " + part(step) + ")");
  }
  std::vector<Value> items;
  for (const std::size_t i : slice_indices(list->items.size(), start, stop, step)) items.push_back(list->items[i]);
  return context.list(list->kind, std::move(items));
}

}  // namespace trireme::chat::jinja
