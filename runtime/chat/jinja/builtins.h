// The tables of everything that a template can call by name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/chat/jinja/callable.h"

namespace trireme::chat::jinja {

// Null if there is none.
inline Function find_builtin(std::span<const Builtin> table, std::string_view name) {
  for (const Builtin& builtin : table) {
    if (builtin.name == name) return builtin.function;
  }
  return nullptr;
}

Function find_filter(std::string_view name);
Function find_test(std::string_view name);
Function find_function(std::string_view name);  // range, namespace, dict, raise_exception, strftime_now

std::span<const Builtin> text_filters();        // trim, upper, replace, …
std::span<const Builtin> conversion_filters();  // int, string, tojson, default, …
std::span<const Builtin> sequence_filters();    // join, sort, first, …
std::span<const Builtin> selection_filters();   // map, select, rejectattr, …

std::span<const Builtin> text_methods();
std::span<const Builtin> text_split_methods();
std::span<const Builtin> list_methods();
std::span<const Builtin> tuple_methods();
std::span<const Builtin> dict_methods();
std::span<const Builtin> loop_methods();

}  // namespace trireme::chat::jinja
