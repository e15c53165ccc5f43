#include <array>
#include <string>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/sort_key.h"
#include "runtime/chat/jinja/template_error.h"

namespace trireme::chat::jinja {
namespace {

// The arguments behind the first `num_skipped`, with `item` in front: a call of another filter or test.
Arguments forwarded(const Arguments& arguments, std::size_t num_skipped, const Value& item) {
  Arguments call;
  call.positional.push_back(item);
  for (std::size_t i = num_skipped; i < arguments.positional.size(); ++i)
    call.positional.push_back(arguments.positional[i]);
  call.named = arguments.named;
  return call;
}

const std::string& name_argument(const Arguments& arguments, std::size_t index, const char* function) {
  if (index >= arguments.positional.size() || !arguments.positional[index].is_text()) {
    fail(std::string(function) + "() needs the name of a filter, test or attribute");
  }
  return *arguments.positional[index].text();
}

Value map_attribute(RenderContext& context, const Arguments& arguments, const Value& path) {
  const Value* otherwise = nullptr;
  for (const auto& [name, value] : arguments.named) {
    if (name == "default") otherwise = &value;
    if (name != "default" && name != "attribute") fail("Unexpected keyword argument '" + name + "'");
  }
  List* mapped = context.list(List::Kind::kGenerator);
  for (const Value& item : iterate(context, arguments.positional[0])) {
    Value value = attribute_path(context, item, path);
    mapped->items.push_back(value.is_undefined() && otherwise != nullptr ? *otherwise : value);
  }
  return mapped;
}

Value map(RenderContext& context, const Arguments& arguments) {
  if (arguments.positional.size() == 1) {
    for (const auto& [name, value] : arguments.named) {
      if (name == "attribute") return map_attribute(context, arguments, value);
    }
    fail("map requires a filter argument");
  }
  const std::string& name = name_argument(arguments, 1, "map");
  const Function filter = find_filter(name);
  if (filter == nullptr) fail("No filter named '" + name + "'.");
  List* mapped = context.list(List::Kind::kGenerator);
  for (const Value& item : iterate(context, arguments.positional[0])) {
    context.charge();
    mapped->items.push_back(filter(context, forwarded(arguments, 2, item)));
  }
  return mapped;
}

struct Selection {
  bool by_attribute = false;
  bool keeps = true;  // what the test accepts; else the rest
  const char* name = "";
};

Value select_items(RenderContext& context, const Arguments& arguments, const Selection& selection) {
  const std::size_t test_index = selection.by_attribute ? 2 : 1;
  if (selection.by_attribute && arguments.positional.size() < 2) fail("Missing parameter for attribute name");
  Function test = nullptr;
  if (arguments.positional.size() > test_index) {
    const std::string& name = name_argument(arguments, test_index, selection.name);
    test = find_test(name);
    if (test == nullptr) fail("No test named '" + name + "'.");
  }
  List* kept = context.list(List::Kind::kGenerator);
  for (const Value& item : iterate(context, arguments.positional[0])) {
    context.charge();
    const Value value = selection.by_attribute ? attribute_path(context, item, arguments.positional[1]) : item;
    const bool accepted = truthy(test == nullptr ? value : test(context, forwarded(arguments, test_index + 1, value)));
    if (accepted == selection.keeps) kept->items.push_back(item);
  }
  return kept;
}

Value select(RenderContext& context, const Arguments& arguments) {
  return select_items(context, arguments, {false, true, "select"});
}
Value reject(RenderContext& context, const Arguments& arguments) {
  return select_items(context, arguments, {false, false, "reject"});
}
Value selectattr(RenderContext& context, const Arguments& arguments) {
  return select_items(context, arguments, {true, true, "selectattr"});
}
Value rejectattr(RenderContext& context, const Arguments& arguments) {
  return select_items(context, arguments, {true, false, "rejectattr"});
}

constexpr std::array kSelectionFilters = {
    Builtin{"map", map},
    Builtin{"select", select},
    Builtin{"reject", reject},
    Builtin{"selectattr", selectattr},
    Builtin{"rejectattr", rejectattr},
};

}  // namespace

std::span<const Builtin> selection_filters() {
  return kSelectionFilters;
}

}  // namespace trireme::chat::jinja
