#include <cmath>
#include <string>

#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/printf_format.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {
namespace {

// By reference: the result is read after the operation that sets it.
std::int64_t checked(bool overflow, const std::int64_t& result) {
  if (overflow) fail("an integer is out of range");
  return result;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) fail("integer division or modulo by zero");
  if (b == -1) {
    std::int64_t negated = 0;
    return checked(__builtin_sub_overflow(std::int64_t{0}, a, &negated), negated);
  }
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) fail("integer division or modulo by zero");
  if (b == -1) return 0;
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) fail("an integer is out of range");
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) fail("an integer is out of range");
  }
  return result;
}

double float_modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  if (remainder == 0.0) return std::copysign(0.0, b);
  return (remainder < 0.0) != (b < 0.0) ? remainder + b : remainder;
}

Value float_power(double base, double exponent) {
  if (base == 0.0 && exponent < 0.0) fail("0.0 cannot be raised to a negative power");
  if (base < 0.0 && exponent != std::floor(exponent)) fail("a power of a negative number is no real number");
  return Value(std::pow(base, exponent));
}

Value integer_arithmetic(BinaryOperator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case BinaryOperator::kAdd: return Value(checked(__builtin_add_overflow(a, b, &result), result));
    case BinaryOperator::kSubtract: return Value(checked(__builtin_sub_overflow(a, b, &result), result));
    case BinaryOperator::kMultiply: return Value(checked(__builtin_mul_overflow(a, b, &result), result));
    case BinaryOperator::kFloorDivide: return Value(floor_divide(a, b));
    case BinaryOperator::kModulo: return Value(floor_modulo(a, b));
    case BinaryOperator::kPower:
      if (b < 0) return float_power(static_cast<double>(a), static_cast<double>(b));
      return Value(integer_power(a, b));
    case BinaryOperator::kDivide: break;
  }
  if (b == 0) fail("division by zero");
  return Value(static_cast<double>(a) / static_cast<double>(b));
}

Value float_arithmetic(BinaryOperator op, double a, double b) {
  const bool divides =
      op == BinaryOperator::kDivide || op == BinaryOperator::kFloorDivide || op == BinaryOperator::kModulo;
  if (divides && b == 0.0) fail("float division by zero");
  switch (op) {
    case BinaryOperator::kAdd: return Value(a + b);
    case BinaryOperator::kSubtract: return Value(a - b);
    case BinaryOperator::kMultiply: return Value(a * b);
    case BinaryOperator::kDivide: return Value(a / b);
    case BinaryOperator::kFloorDivide: return Value(std::floor((a - float_modulo(a, b)) / b + 0.5));
    case BinaryOperator::kModulo: return Value(float_modulo(a, b));
    case BinaryOperator::kPower: break;
  }
  return float_power(a, b);
}

Value concatenate(RenderContext& context, const Value& left, const Value& right) {
  if (left.is_text() && right.is_text()) {
    context.check_text_size(left.text()->size() + right.text()->size());
    return context.text(*left.text() + *right.text());
  }
  const List *a = left.list(), *b = right.list();
  if (a != nullptr && b != nullptr && a->kind == b->kind && a->kind <= List::Kind::kTuple) {
    context.charge(a->items.size() + b->items.size());
    std::vector<Value> items = a->items;
    items.insert(items.end(), b->items.begin(), b->items.end());
    return context.list(a->kind, std::move(items));
  }
  if (left.is_text() || a != nullptr) {
    const std::string type = type_name(left);
    fail("can only concatenate " + type + " (not \"" + type_name(right) + "\") to " + type);
  }
  fail("unsupported operand type(s) for +: '" + type_name(left) + "' and '" + type_name(right) + "'");
}

Value repeat(RenderContext& context, const Value& sequence, std::int64_t count) {
  if (sequence.is_text()) {
    TextBuilder text(context);
    text.fill(count, *sequence.text());
    return text.value();
  }
  const std::vector<Value>& items = sequence.list()->items;
  std::vector<Value> repeated;
  if (count > 0 && !items.empty()) {
    std::size_t total = 0;
    const bool overflow = __builtin_mul_overflow(static_cast<std::size_t>(count), items.size(), &total);
    context.charge(overflow ? static_cast<std::size_t>(-1) : total);
    repeated.reserve(total);
    for (std::int64_t i = 0; i < count; ++i) repeated.insert(repeated.end(), items.begin(), items.end());
  }
  return context.list(sequence.list()->kind, std::move(repeated));
}

bool repeatable(const Value& value) {
  return value.is_text() || (value.list() != nullptr && value.list()->kind <= List::Kind::kTuple);
}

}  // namespace

std::string_view symbol(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kAdd: return "+";
    case BinaryOperator::kSubtract: return "-";
    case BinaryOperator::kMultiply: return "*";
    case BinaryOperator::kDivide: return "/";
    case BinaryOperator::kFloorDivide: return "//";
    case BinaryOperator::kModulo: return "%";
    case BinaryOperator::kPower: break;
  }
  return "** or pow()";
}

void require_defined(const Value& value) {
  if (const Undefined* undefined = value.undefined()) fail(*undefined->message);
}

Value arithmetic(RenderContext& context, BinaryOperator op, const Value& left, const Value& right) {
  if (op == BinaryOperator::kModulo && left.is_text()) {
    const bool is_tuple = right.list() != nullptr && right.list()->kind == List::Kind::kTuple;
    return printf_format(context, *left.text(), is_tuple ? right.list()->items : std::vector<Value>{right},
                         right.dict());
  }
  require_defined(left);
  require_defined(right);
  Number a, b;
  const bool left_is_number = as_number(left, a), right_is_number = as_number(right, b);
  if (left_is_number && right_is_number) {
    return a.is_float || b.is_float ? float_arithmetic(op, a.floating, b.floating)
                                    : integer_arithmetic(op, a.integer, b.integer);
  }
  if (op == BinaryOperator::kAdd) return concatenate(context, left, right);
  if (op == BinaryOperator::kMultiply && (repeatable(left) || repeatable(right))) {
    const Value& sequence = repeatable(left) ? left : right;
    const Value& count = repeatable(left) ? right : left;
    if (!as_number(count, a) || a.is_float) {
      fail("can't multiply sequence by non-int of type '" + type_name(count) + "'");
    }
    return repeat(context, sequence, a.integer);
  }
  fail("unsupported operand type(s) for " + std::string(symbol(op)) + ": '" + type_name(left) + "' and '" +
       type_name(right) + "'");
}

Value negate(const Value& value) {
  require_defined(value);
  Number number;
  if (!as_number(value, number)) fail("bad operand type for unary -: '" + type_name(value) + "'");
  if (number.is_float) return Value(-number.floating);
  return integer_arithmetic(BinaryOperator::kSubtract, 0, number.integer);
}

Value positive(const Value& value) {
  require_defined(value);
  Number number;
  if (!as_number(value, number)) fail("bad operand type for unary +: '" + type_name(value) + "'");
  return number.is_float ? Value(number.floating) : Value(number.integer);
}

}  // namespace trireme::chat::jinja
