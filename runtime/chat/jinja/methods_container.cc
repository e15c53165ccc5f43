// Methods of lists, tuples, dicts and the loop variable.
#include <algorithm>
#include <array>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

std::vector<Value>& items_of(const Arguments& arguments) {
  return arguments.positional[0].list()->items;
}

Value append(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "append", {"self", "object"}, 2);
  context.charge();
  items_of(arguments).push_back(parameters[1]);
  return Value();
}

Value extend(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "extend", {"self", "iterable"}, 2);
  for (const Value& item : iterate(context, parameters[1])) items_of(arguments).push_back(item);
  return Value();
}

Value insert(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "insert", {"self", "index", "object"}, 3);
  std::vector<Value>& items = items_of(arguments);
  context.charge(1 + items.size() / 16);
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t index = parameters.integer(1, 0);
  items.insert(items.begin() + std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size), parameters[2]);
  return Value();
}

Value pop(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "pop", {"self", "index"});
  std::vector<Value>& items = items_of(arguments);
  context.charge(1 + items.size() / 16);
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t index = parameters.integer(1, -1);
  const std::int64_t place = index < 0 ? index + size : index;
  if (place < 0 || place >= size) fail("pop index out of range");
  Value popped = items[static_cast<std::size_t>(place)];
  items.erase(items.begin() + place);
  return popped;
}

Value index(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "index", {"self", "value"}, 2);
  const std::vector<Value>& items = items_of(arguments);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (equal(context, items[i], parameters[1])) return Value(static_cast<std::int64_t>(i));
  }
  fail(to_repr(context, parameters[1]) + " is not in list");
}

Value count(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "count", {"self", "value"}, 2);
  std::int64_t found = 0;
  for (const Value& item : items_of(arguments)) found += equal(context, item, parameters[1]) ? 1 : 0;
  return Value(found);
}

Value copy_list(RenderContext& context, const Arguments& arguments) {
  return context.list(items_of(arguments));
}

Dict& dict_of(const Arguments& arguments) {
  return *arguments.positional[0].dict();
}

Value get(RenderContext&, const Arguments& arguments) {
  const Parameters parameters(arguments, "get", {"self", "key", "default"}, 2);
  if (const Value* value = dict_of(arguments).find(parameters[1])) return *value;
  return parameters.has(2) ? parameters[2] : Value();
}

Value keys(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "keys", {"self"});
  return context.list(List::Kind::kDictKeys, iterate(context, parameters.self()));
}

Value values(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "values", {"self"});
  std::vector<Value> found;
  for (const auto& entry : dict_of(arguments).entries()) found.push_back(entry.second);
  return context.list(List::Kind::kDictValues, std::move(found));
}

Value items(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "items", {"self"});
  std::vector<Value> pairs;
  for (const auto& [key, value] : dict_of(arguments).entries()) pairs.push_back(context.tuple({key, value}));
  return context.list(List::Kind::kDictItems, std::move(pairs));
}

Value update(RenderContext& context, const Arguments& arguments) {
  Dict& dict = dict_of(arguments);
  for (std::size_t i = 1; i < arguments.positional.size(); ++i) {
    const Dict* other = arguments.positional[i].dict();
    if (other == nullptr) fail("update() needs a mapping, not " + type_name(arguments.positional[i]));
    const auto entries = other->entries();  // a copy: it may be the same dict
    context.charge(entries.size());
    for (const auto& [key, value] : entries) dict.set(key, value);
  }
  for (const auto& [name, value] : arguments.named) dict.set(context.text(name), value);
  return Value();
}

Value setdefault(RenderContext&, const Arguments& arguments) {
  const Parameters parameters(arguments, "setdefault", {"self", "key", "default"}, 2);
  if (const Value* value = dict_of(arguments).find(parameters[1])) return *value;
  const Value otherwise = parameters.has(2) ? parameters[2] : Value();
  dict_of(arguments).set(parameters[1], otherwise);
  return otherwise;
}

Value pop_key(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "pop", {"self", "key", "default"}, 2);
  Dict& dict = dict_of(arguments);
  context.charge(1 + dict.entries().size());
  if (const Value* found = dict.find(parameters[1])) {
    Value value = *found;
    dict.erase(parameters[1]);
    return value;
  }
  if (!parameters.has(2)) fail(to_repr(context, parameters[1]));
  return parameters[2];
}

Value copy_dict(RenderContext& context, const Arguments& arguments) {
  Dict* copy = context.dict();
  context.charge(dict_of(arguments).entries().size());
  for (const auto& [key, value] : dict_of(arguments).entries()) copy->set(key, value);
  return copy;
}

Value cycle(RenderContext&, const Arguments& arguments) {
  const std::size_t count = arguments.positional.size() - 1;
  if (count == 0) fail("no items for cycling given");
  return arguments.positional[1 + arguments.positional[0].loop()->index % count];
}

Value changed(RenderContext& context, const Arguments& arguments) {
  Loop& loop = *arguments.positional[0].loop();
  const std::vector<Value> now(arguments.positional.begin() + 1, arguments.positional.end());
  const auto same = [&](const Value& a, const Value& b) { return equal(context, a, b); };
  if (loop.has_changed &&
      std::equal(now.begin(), now.end(), loop.last_changed.begin(), loop.last_changed.end(), same)) {
    return Value(false);
  }
  loop.has_changed = true;
  loop.last_changed = now;
  return Value(true);
}

constexpr std::array kListMethods = {
    Builtin{"append", append}, Builtin{"extend", extend}, Builtin{"insert", insert},  Builtin{"pop", pop},
    Builtin{"index", index},   Builtin{"count", count},   Builtin{"copy", copy_list},
};
constexpr std::array kTupleMethods = {Builtin{"index", index}, Builtin{"count", count}};
constexpr std::array kDictMethods = {
    Builtin{"get", get},     Builtin{"keys", keys},      Builtin{"values", values},
    Builtin{"items", items}, Builtin{"update", update},  Builtin{"setdefault", setdefault},
    Builtin{"pop", pop_key}, Builtin{"copy", copy_dict},
};
constexpr std::array kLoopMethods = {Builtin{"cycle", cycle}, Builtin{"changed", changed}};

}  // namespace

std::span<const Builtin> list_methods() {
  return kListMethods;
}
std::span<const Builtin> tuple_methods() {
  return kTupleMethods;
}
std::span<const Builtin> dict_methods() {
  return kDictMethods;
}
std::span<const Builtin> loop_methods() {
  return kLoopMethods;
}

}  // namespace trireme::chat::jinja
