// What may follow `is`.
#include <array>
#include <cmath>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

using Predicate = bool (*)(const Value& value);

template <Predicate predicate>
Value check(RenderContext&, const Arguments& arguments) {
  return Value(predicate(Parameters(arguments, "test", {"value"}).self()));
}

template <Comparison comparison>
Value compares(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "test", {"a", "b"}, 2);
  return Value(compare(context, comparison, parameters[0], parameters[1]));
}

bool is_boolean(const Value& value) {
  return value.boolean() != nullptr;
}
bool is_integer(const Value& value) {
  return value.integer() != nullptr;
}
bool is_float(const Value& value) {
  return value.floating() != nullptr;
}
bool is_number(const Value& value) {
  return is_boolean(value) || is_integer(value) || is_float(value);
}
bool is_mapping(const Value& value) {
  return value.dict() != nullptr && value.dict()->kind == Dict::Kind::kDict;
}
bool is_sequence(const Value& value) {
  const List* list = value.list();
  return value.is_undefined() || value.is_text() || is_mapping(value) ||
         (list != nullptr && list->kind <= List::Kind::kRange);
}
bool is_iterable(const Value& value) {
  return is_sequence(value) || value.list() != nullptr;
}

std::int64_t integer_of(const Value& value) {
  require_defined(value);
  Number number;
  if (!as_number(value, number) || number.is_float) fail("an integer is required, not " + type_name(value));
  return number.integer;
}

// Null where no letter of the text has a case.
template <bool (*has_case)(char32_t), bool (*other_case)(char32_t)>
bool is_cased(const Value& value) {
  if (!value.is_text()) return false;
  bool found = false;
  for (const std::string_view character : characters(*value.text())) {
    if (other_case(first_code_point(character))) return false;
    found |= has_case(first_code_point(character));
  }
  return found;
}

Value divisibleby(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "divisibleby", {"value", "num"}, 2);
  const Value rest = arithmetic(context, BinaryOperator::kModulo, parameters[0], parameters[1]);
  return Value(!truthy(rest));
}

Value sameas(RenderContext& context, const Arguments& arguments) {
  const Parameters parameters(arguments, "sameas", {"value", "other"}, 2);
  const Value &a = parameters[0], &b = parameters[1];
  if (a.list() != nullptr || a.dict() != nullptr) return Value(a.list() == b.list() && a.dict() == b.dict());
  return Value(type_name(a) == type_name(b) && equal(context, a, b));
}

Value is_filter(RenderContext& context, const Arguments& arguments) {
  return Value(find_filter(to_text(context, Parameters(arguments, "filter", {"value"}).self())) != nullptr);
}

Value is_test(RenderContext& context, const Arguments& arguments) {
  return Value(find_test(to_text(context, Parameters(arguments, "test", {"value"}).self())) != nullptr);
}

constexpr std::array kTests = {
    Builtin{"defined", check<[](const Value& value) { return !value.is_undefined(); }>},
    Builtin{"undefined", check<[](const Value& value) { return value.is_undefined(); }>},
    Builtin{"none", check<[](const Value& value) { return value.is_none(); }>},
    Builtin{"string", check<[](const Value& value) { return value.is_text(); }>},
    Builtin{"true", check<[](const Value& value) { return is_boolean(value) && *value.boolean(); }>},
    Builtin{"false", check<[](const Value& value) { return is_boolean(value) && !*value.boolean(); }>},
    Builtin{"boolean", check<is_boolean>},
    Builtin{"integer", check<is_integer>},
    Builtin{"float", check<is_float>},
    Builtin{"number", check<is_number>},
    Builtin{"mapping", check<is_mapping>},
    Builtin{"sequence", check<is_sequence>},
    Builtin{"iterable", check<is_iterable>},
    Builtin{"callable", check<[](const Value& value) { return value.callable() != nullptr; }>},
    Builtin{"escaped", check<[](const Value&) { return false; }>},
    Builtin{"odd", check<[](const Value& value) { return integer_of(value) % 2 != 0; }>},
    Builtin{"even", check<[](const Value& value) { return integer_of(value) % 2 == 0; }>},
    Builtin{"upper", check<is_cased<is_upper, is_lower>>},
    Builtin{"lower", check<is_cased<is_lower, is_upper>>},
    Builtin{"divisibleby", divisibleby},
    Builtin{"sameas", sameas},
    Builtin{"filter", is_filter},
    Builtin{"test", is_test},
    Builtin{"in", compares<Comparison::kIn>},
    Builtin{"eq", compares<Comparison::kEqual>},
    Builtin{"equalto", compares<Comparison::kEqual>},
    Builtin{"==", compares<Comparison::kEqual>},
    Builtin{"ne", compares<Comparison::kNotEqual>},
    Builtin{"!=", compares<Comparison::kNotEqual>},
    Builtin{"lt", compares<Comparison::kLess>},
    Builtin{"lessthan", compares<Comparison::kLess>},
    Builtin{"<", compares<Comparison::kLess>},
    Builtin{"le", compares<Comparison::kLessEqual>},
    Builtin{"<=", compares<Comparison::kLessEqual>},
    Builtin{"gt", compares<Comparison::kGreater>},
    Builtin{"greaterthan", compares<Comparison::kGreater>},
    Builtin{">", compares<Comparison::kGreater>},
    Builtin{"ge", compares<Comparison::kGreaterEqual>},
    Builtin{">=", compares<Comparison::kGreaterEqual>},
};

}  // namespace

Function find_test(std::string_view name) {
  return find_builtin(kTests, name);
}

}  // namespace trireme::chat::jinja
