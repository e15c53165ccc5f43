#include <array>
#include <ctime>
#include <limits>
#include <string>

#include "runtime/chat/jinja/builtins.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/parameters.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/value_text.h"

namespace trireme::chat::jinja {
namespace {

std::int64_t integer_at(const Arguments& arguments, std::size_t index) {
  const Value& value = arguments.positional[index];
  require_defined(value);
  Number number;
  if (!as_number(value, number) || number.is_float) {
    fail("'" + type_name(value) + "' object cannot be interpreted as an integer");
  }
  return number.integer;
}

// Charged by its length before anything is allocated.
Value range(RenderContext& context, const Arguments& arguments) {
  const std::size_t count = arguments.positional.size();
  if (count < 1 || count > 3 || !arguments.named.empty()) fail("range expected 1 to 3 arguments");
  const std::int64_t start = count > 1 ? integer_at(arguments, 0) : 0;
  const std::int64_t stop = integer_at(arguments, count > 1 ? 1 : 0);
  const std::int64_t step = count > 2 ? integer_at(arguments, 2) : 1;
  if (step == 0) fail("range() arg 3 must not be zero");
  const bool empty = step > 0 ? start >= stop : start <= stop;
  if (empty) return context.list(List::Kind::kRange);
  const std::uint64_t distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                          : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t size = (distance - 1) / stride + 1;
  context.charge(size);
  std::vector<Value> items;
  items.reserve(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    items.emplace_back(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + i * static_cast<std::uint64_t>(step)));
  }
  return context.list(List::Kind::kRange, std::move(items));
}

Value make_dict(RenderContext& context, const Arguments& arguments, Dict::Kind kind) {
  Dict* dict = context.dict(kind);
  for (const Value& source : arguments.positional) {
    require_defined(source);
    if (source.dict() != nullptr) {
      for (const auto& [key, value] : source.dict()->entries()) dict->set(key, value);
      continue;
    }
    for (const Value& pair : iterate(context, source)) {
      const std::vector<Value> parts = iterate(context, pair);
      if (parts.size() != 2) fail("dictionary update sequence needs pairs");
      dict->set(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) dict->set(context.text(name), value);
  context.charge(dict->entries().size());
  return dict;
}

Value dict(RenderContext& context, const Arguments& arguments) {
  return make_dict(context, arguments, Dict::Kind::kDict);
}

Value make_namespace(RenderContext& context, const Arguments& arguments) {
  return make_dict(context, arguments, Dict::Kind::kNamespace);
}

Value raise_exception(RenderContext& context, const Arguments& arguments) {
  if (arguments.positional.size() != 1) fail("raise_exception() needs one message");
  fail(to_text(context, arguments.positional[0]));
}

// The evaluator offers this one only where there is a time to show.
Value strftime_now(RenderContext& context, const Arguments& arguments) {
  constexpr std::size_t kMaxFormat = 256, kMaxText = 4096;
  if (arguments.positional.size() != 1 || !arguments.positional[0].is_text()) fail("strftime_now() needs one format");
  const std::string& format = *arguments.positional[0].text();
  if (format.empty()) return context.text("");
  if (format.size() > kMaxFormat) fail("the format of strftime_now is too long");
  const std::time_t seconds = context.limits().now->time_since_epoch().count();
  std::tm time{};
  if (gmtime_r(&seconds, &time) == nullptr) fail("the time is out of range");
  std::array<char, kMaxText> buffer{};
  const std::size_t size = std::strftime(buffer.data(), buffer.size(), format.c_str(), &time);
  if (size == 0) fail("the format of strftime_now makes too long a text");
  return context.text(std::string(buffer.data(), size));
}

constexpr std::array kFunctions = {
    Builtin{"range", range},
    Builtin{"dict", dict},
    Builtin{"namespace", make_namespace},
    Builtin{"raise_exception", raise_exception},
    Builtin{"strftime_now", strftime_now},
};

}  // namespace

Function find_function(std::string_view name) {
  return find_builtin(kFunctions, name);
}

}  // namespace trireme::chat::jinja
