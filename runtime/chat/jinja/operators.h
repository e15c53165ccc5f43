// Operators on values, with Python's meaning. All throw TemplateError where Python raises.
#pragma once

#include <string_view>

#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

enum class BinaryOperator { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

std::string_view symbol(BinaryOperator op);

Value arithmetic(RenderContext& context, BinaryOperator op, const Value& left, const Value& right);
Value negate(const Value& value);
Value positive(const Value& value);

bool compare(RenderContext& context, Comparison comparison, const Value& left, const Value& right);
bool equal(RenderContext& context, const Value& left, const Value& right);
bool less(RenderContext& context, const Value& left, const Value& right);
bool contains(RenderContext& context, const Value& container, const Value& item);

// The elements that a loop sees: of a list, characters of text, keys of a dict, none of an undefined value.
std::vector<Value> iterate(RenderContext& context, const Value& value);
std::size_t length(const Value& value);

// Throws what the use of an undefined value says.
void require_defined(const Value& value);

}  // namespace trireme::chat::jinja
