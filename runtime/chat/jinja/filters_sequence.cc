#include <algorithm>
#include <array>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/sort_key.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

using Keyed = std::vector<std::pair<Value, Value>>;  // sort key, item

Keyed with_keys(RenderContext& context, const Value& sequence, const Value* attribute, bool case_sensitive) {
  Keyed keyed;
  for (const Value& item : iterate(context, sequence)) {
    keyed.emplace_back(sort_key(context, item, attribute, case_sensitive), item);
  }
  return keyed;
}

Value count(RenderContext&, const Arguments& arguments) {
  return Value(static_cast<std::int64_t>(length(Parameters(arguments, "length", {"obj"}).self())));
}

Value first(RenderContext& context, const Arguments& arguments) {
  const std::vector<Value> items = iterate(context, Parameters(arguments, "first", {"seq"}).self());
  return items.empty() ? Value(undefined_because("No first item, sequence was empty.")) : items.front();
}

Value last(RenderContext& context, const Arguments& arguments) {
  const std::vector<Value> items = iterate(context, Parameters(arguments, "last", {"seq"}).self());
  return items.empty() ? Value(undefined_because("No last item, sequence was empty.")) : items.back();
}

Value join(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "join", {"value", "d", "attribute"});
  const std::string separator = parameters.has(1) ? to_text(context, parameters[1]) : "";
  TextBuilder out(context);
  bool is_first = true;
  for (const Value& item : iterate(context, parameters.self())) {
    if (!is_first) out.append(separator);
    is_first = false;
    out.append(to_text(context, parameters.has_value(2) ? attribute_path(context, item, parameters[2]) : item));
  }
  return out.value();
}

Value to_list(RenderContext& context, const Arguments& arguments) {
  return context.list(iterate(context, Parameters(arguments, "list", {"value"}).self()));
}

Value reverse(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "reverse", {"value"});
  if (const std::string* text = parameters.self().text()) {
    const auto parts = characters(*text);
    TextBuilder out(context);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) out.append(*part);
    return out.value();
  }
  std::vector<Value> items = iterate(context, parameters.self());
  std::reverse(items.begin(), items.end());
  return context.list(List::Kind::kGenerator, std::move(items));
}

Value sort(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "sort", {"value", "reverse", "case_sensitive", "attribute"});
  const Value* attribute = parameters.has(3) ? &parameters[3] : nullptr;
  const Keyed keyed = with_keys(context, parameters.self(), attribute, parameters.flag(2, false));
  return context.list(sorted_by_key(context, keyed, parameters.flag(1, false)));
}

Value unique(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "unique", {"value", "case_sensitive", "attribute"});
  const Value* attribute = parameters.has(2) ? &parameters[2] : nullptr;
  Dict seen;
  List* kept = context.list(List::Kind::kGenerator);
  for (const auto& [key, item] : with_keys(context, parameters.self(), attribute, parameters.flag(1, false))) {
    context.charge(key.is_text() ? 1 : seen.entries().size() + 1);
    if (seen.find(key) != nullptr) continue;
    seen.set(key, Value());
    kept->items.push_back(item);
  }
  return kept;
}

Value extreme(RenderContext& context, const Arguments& arguments, bool wants_largest) {
  const Parameters parameters(arguments, wants_largest ? "max" : "min", {"value", "case_sensitive", "attribute"});
  const Value* attribute = parameters.has(2) ? &parameters[2] : nullptr;
  const Keyed keyed = with_keys(context, parameters.self(), attribute, parameters.flag(1, false));
  if (keyed.empty()) return undefined_because("No aggregated item, sequence was empty.");
  const auto* best = &keyed.front();
  for (const auto& entry : keyed) {
    const bool better =
        wants_largest ? less(context, best->first, entry.first) : less(context, entry.first, best->first);
    if (better) best = &entry;
  }
  return best->second;
}

Value smallest(RenderContext& context, const Arguments& arguments) {
  return extreme(context, arguments, false);
}
Value largest(RenderContext& context, const Arguments& arguments) {
  return extreme(context, arguments, true);
}

Value sum(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "sum", {"iterable", "attribute", "start"});
  Value total = parameters.has(2) ? parameters[2] : Value(std::int64_t{0});
  for (const Value& item : iterate(context, parameters.self())) {
    const Value part = parameters.has_value(1) ? attribute_path(context, item, parameters[1]) : item;
    total = arithmetic(context, BinaryOperator::kAdd, total, part);
  }
  return total;
}

Value items(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "items", {"value"});
  List* pairs = context.list(List::Kind::kGenerator);
  if (parameters.self().is_undefined()) return pairs;
  const Dict* dict = parameters.self().dict();
  if (dict == nullptr) fail("Can only get item pairs from a mapping.");
  for (const auto& [key, value] : dict->entries()) pairs->items.push_back(context.tuple({key, value}));
  return pairs;
}

Value dictsort(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "dictsort", {"value", "case_sensitive", "by", "reverse"});
  const Dict* dict = parameters.self().dict();
  require_defined(parameters.self());
  if (dict == nullptr) fail("'" + type_name(parameters.self()) + "' object has no attribute 'items'");
  const std::string_view by = parameters.text(2, "key");
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  Keyed keyed;
  for (const auto& [key, value] : dict->entries()) {
    const Value sorts_by = sort_key(context, by == "key" ? key : value, nullptr, parameters.flag(1, false));
    keyed.emplace_back(sorts_by, context.tuple({key, value}));
  }
  return context.list(sorted_by_key(context, keyed, parameters.flag(3, false)));
}

Value batch(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "batch", {"value", "linecount", "fill_with"}, 2);
  const std::int64_t size = parameters.integer(1, 1);
  if (size < 1) fail("batch() needs a positive number");
  List* batches = context.list(List::Kind::kGenerator);
  List* current = nullptr;
  for (const Value& item : iterate(context, parameters.self())) {
    if (current == nullptr || current->items.size() == static_cast<std::size_t>(size)) {
      current = context.list();
      batches->items.push_back(current);
    }
    current->items.push_back(item);
  }
  if (current != nullptr && parameters.has_value(2)) {
    const std::size_t missing = static_cast<std::size_t>(size) - current->items.size();
    context.charge(missing);
    current->items.insert(current->items.end(), missing, parameters[2]);
  }
  return batches;
}

constexpr std::array kSequenceFilters = {
    Builtin{"length", count},  Builtin{"count", count},       Builtin{"first", first},     Builtin{"last", last},
    Builtin{"join", join},     Builtin{"list", to_list},      Builtin{"reverse", reverse}, Builtin{"sort", sort},
    Builtin{"unique", unique}, Builtin{"min", smallest},      Builtin{"max", largest},     Builtin{"sum", sum},
    Builtin{"items", items},   Builtin{"dictsort", dictsort}, Builtin{"batch", batch},
};

}  // namespace

std::span<const Builtin> sequence_filters() {
  return kSequenceFilters;
}

}  // namespace trireme::chat::jinja
