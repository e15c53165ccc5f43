// Value: what an expression of a template yields; Python's data model as far as templates can see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace trireme::chat::jinja {

struct List;
struct Dict;
struct Loop;
class Callable;

// A value that is not there. Most uses of it fail with `message`; it prints as nothing and iterates over nothing.
struct Undefined {
  std::shared_ptr<const std::string> message;
};
struct None {};
using Text = std::shared_ptr<const std::string>;

// Cheap to copy. Lists, dicts and callables belong to the RenderContext, so that values that contain themselves, or are
// nested a million deep, are freed like any others.
class Value {
 public:
  Value() : data_(None{}) {}
  Value(Undefined undefined) : data_(std::move(undefined)) {}
  explicit Value(bool value) : data_(value) {}
  explicit Value(std::int64_t value) : data_(value) {}
  explicit Value(double value) : data_(value) {}
  explicit Value(Text text) : data_(std::move(text)) {}
  Value(List* list) : data_(list) {}
  Value(Dict* dict) : data_(dict) {}
  Value(Loop* loop) : data_(loop) {}
  Value(const Callable* callable) : data_(callable) {}

  bool is_undefined() const { return holds<Undefined>(); }
  bool is_none() const { return holds<None>(); }
  bool is_text() const { return holds<Text>(); }

  // Null where the value is of another type.
  const Undefined* undefined() const { return std::get_if<Undefined>(&data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data_); }
  const double* floating() const { return std::get_if<double>(&data_); }
  const std::string* text() const { return is_text() ? std::get<Text>(data_).get() : nullptr; }
  List* list() const { return pointer<List*>(); }
  Dict* dict() const { return pointer<Dict*>(); }
  Loop* loop() const { return pointer<Loop*>(); }
  const Callable* callable() const { return pointer<const Callable*>(); }

 private:
  template <typename T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }
  template <typename T>
  T pointer() const {
    const T* found = std::get_if<T>(&data_);
    return found == nullptr ? nullptr : *found;
  }
  std::variant<Undefined, None, bool, std::int64_t, double, Text, List*, Dict*, Loop*, const Callable*> data_;
};

// Any sequence but text; the kinds differ in how they print and compare.
struct List {
  enum class Kind { kList, kTuple, kRange, kGenerator, kDictKeys, kDictValues, kDictItems };
  Kind kind = Kind::kList;
  std::vector<Value> items;
};

// Keeps the order of insertion.
struct Dict {
  enum class Kind { kDict, kNamespace };
  Kind kind = Kind::kDict;

  const std::vector<std::pair<Value, Value>>& entries() const { return entries_; }
  const Value* find(std::string_view key) const;
  const Value* find(const Value& key) const;  // null for a key that cannot be one
  void set(const Value& key, Value value);
  bool erase(const Value& key);

 private:
  std::size_t position(const Value& key) const;  // entries_.size() if absent
  std::vector<std::pair<Value, Value>> entries_;
  std::unordered_map<std::string_view, std::size_t> index_;  // of keys that are text; views into entries_
};

// The `loop` variable of one running for statement.
struct Loop {
  const std::vector<Value>* items = nullptr;
  std::size_t index = 0;
  std::vector<Value> last_changed;  // arguments of loop.changed
  bool has_changed = false;
};

struct Number {
  bool is_float = false;
  std::int64_t integer = 0;
  double floating = 0.0;  // always set
};

// Booleans are numbers, as in Python. False for anything else.
bool as_number(const Value& value, Number& number);

bool truthy(const Value& value);
std::string type_name(const Value& value);           // "str", "NoneType", …
std::string object_description(const Value& value);  // "str object", "None": as messages of undefined values begin

Undefined undefined_because(std::string message);
// What `name` or `element` of `object` is when there is none.
Undefined undefined_attribute(const Value& object, std::string_view name);
Undefined undefined_element(const Value& object, const std::string& element_repr);

}  // namespace trireme::chat::jinja
