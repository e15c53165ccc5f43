// Callable: a value that can be called; and the arguments of a call. Filters and tests take what they work on as the
// first positional argument, methods their object.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

class RenderContext;

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

using Function = Value (*)(RenderContext& context, const Arguments& arguments);

// An entry of the tables of filters, tests, methods and global functions.
struct Builtin {
  std::string_view name;
  Function function;
};

class Callable {
 public:
  virtual ~Callable() = default;
  virtual Value call(RenderContext& context, const Arguments& arguments) const = 0;
  virtual std::string type_name() const { return "function"; }
};

class BuiltinFunction : public Callable {
 public:
  explicit BuiltinFunction(Function function) : function_(function) {}
  Value call(RenderContext& context, const Arguments& arguments) const override {
    return function_(context, arguments);
  }

 private:
  Function function_;
};

// A method that was looked up but not called yet.
class BoundMethod : public Callable {
 public:
  BoundMethod(Value object, Function function) : object_(std::move(object)), function_(function) {}
  Value call(RenderContext& context, const Arguments& arguments) const override {
    Arguments with_object = arguments;
    with_object.positional.insert(with_object.positional.begin(), object_);
    return function_(context, with_object);
  }
  std::string type_name() const override { return "builtin_function_or_method"; }

 private:
  Value object_;
  Function function_;
};

}  // namespace trireme::chat::jinja
