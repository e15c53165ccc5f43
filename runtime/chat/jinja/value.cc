#include "runtime/chat/jinja/value.h"

#include "runtime/chat/jinja/callable.h"

namespace trireme::chat::jinja {
namespace {

bool same_key(const Value& a, const Value& b) {
  if (a.is_text() || b.is_text()) return a.is_text() && b.is_text() && *a.text() == *b.text();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  Number left, right;
  if (as_number(a, left) && as_number(b, right)) {
    return left.is_float || right.is_float ? left.floating == right.floating : left.integer == right.integer;
  }
  if (a.list() == nullptr || b.list() == nullptr || a.list()->items.size() != b.list()->items.size()) return false;
  for (std::size_t i = 0; i < a.list()->items.size(); ++i) {
    if (!same_key(a.list()->items[i], b.list()->items[i])) return false;
  }
  return true;
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

const Value* Dict::find(const Value& key) const {
  const std::size_t at = position(key);
  return at == entries_.size() ? nullptr : &entries_[at].second;
}

std::size_t Dict::position(const Value& key) const {
  if (key.is_text()) {
    const auto found = index_.find(*key.text());
    return found == index_.end() ? entries_.size() : found->second;
  }
  std::size_t at = 0;
  if (index_.size() == entries_.size()) return entries_.size();
  while (at < entries_.size() && !same_key(entries_[at].first, key)) ++at;
  return at;
}

void Dict::set(const Value& key, Value value) {
  const std::size_t at = position(key);
  if (at < entries_.size()) {
    entries_[at].second = std::move(value);
    return;
  }
  entries_.emplace_back(key, std::move(value));
  if (key.is_text()) index_.emplace(*key.text(), at);
}

bool Dict::erase(const Value& key) {
  const std::size_t at = position(key);
  if (at == entries_.size()) return false;
  if (key.is_text()) index_.erase(*key.text());
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  for (auto& [name, place] : index_) place -= place > at ? 1 : 0;
  return true;
}

bool as_number(const Value& value, Number& number) {
  if (const bool* boolean = value.boolean()) {
    number = {false, *boolean ? 1 : 0, *boolean ? 1.0 : 0.0};
  } else if (const std::int64_t* integer = value.integer()) {
    number = {false, *integer, static_cast<double>(*integer)};
  } else if (const double* floating = value.floating()) {
    number = {true, 0, *floating};
  } else {
    return false;
  }
  return true;
}

bool truthy(const Value& value) {
  Number number;
  if (as_number(value, number)) return number.floating != 0.0;
  if (const std::string* text = value.text()) return !text->empty();
  if (const List* list = value.list()) return list->kind == List::Kind::kGenerator || !list->items.empty();
  if (const Dict* dict = value.dict()) return dict->kind == Dict::Kind::kNamespace || !dict->entries().empty();
  return !value.is_none() && !value.is_undefined();
}

std::string type_name(const Value& value) {
  if (value.is_undefined()) return "Undefined";
  if (value.is_none()) return "NoneType";
  if (value.boolean() != nullptr) return "bool";
  if (value.integer() != nullptr) return "int";
  if (value.floating() != nullptr) return "float";
  if (value.is_text()) return "str";
  if (const Dict* dict = value.dict()) return dict->kind == Dict::Kind::kNamespace ? "Namespace" : "dict";
  if (value.loop() != nullptr) return "LoopContext";
  if (value.callable() != nullptr) return value.callable()->type_name();
  switch (value.list()->kind) {
    case List::Kind::kList: return "list";
    case List::Kind::kTuple: return "tuple";
    case List::Kind::kRange: return "range";
    case List::Kind::kGenerator: return "generator";
    case List::Kind::kDictKeys: return "dict_keys";
    case List::Kind::kDictValues: return "dict_values";
    case List::Kind::kDictItems: return "dict_items";
  }
  return "";
}

std::string object_description(const Value& value) {
  if (value.is_none()) return "None";
  const Dict* dict = value.dict();
  if (dict != nullptr && dict->kind == Dict::Kind::kNamespace) return "jinja2.utils.Namespace object";
  if (value.loop() != nullptr) return "jinja2.runtime.LoopContext object";
  return type_name(value) + " object";
}

Undefined undefined_because(std::string message) {
  return Undefined{std::make_shared<const std::string>(std::move(message))};
}

Undefined undefined_attribute(const Value& object, std::string_view name) {
  return undefined_because("'" + object_description(object) + "' has no attribute '" + std::string(name) + "'");
}

Undefined undefined_element(const Value& object, const std::string& element_repr) {
  return undefined_because(object_description(object) + " has no element " + element_repr);
}

}  // namespace trireme::chat::jinja
