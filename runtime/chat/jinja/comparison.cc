#include <algorithm>
#include <string>

#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/text_search.h"
#include "runtime/chat/jinja/utf8.h"

namespace trireme::chat::jinja {
namespace {

bool equal_lists(RenderContext& context, const List& a, const List& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  if (a.kind == List::Kind::kGenerator) return &a == &b;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(context, a.items[i], b.items[i])) return false;
  }
  return true;
}

bool equal_dicts(RenderContext& context, const Dict& a, const Dict& b) {
  if (a.kind == Dict::Kind::kNamespace || b.kind == Dict::Kind::kNamespace) return &a == &b;
  if (a.entries().size() != b.entries().size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (other == nullptr || !equal(context, value, *other)) return false;
  }
  return true;
}

std::string_view symbol(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess: return "<";
    case Comparison::kLessEqual: return "<=";
    case Comparison::kGreater: return ">";
    default: return ">=";
  }
}

bool less_lists(RenderContext& context, const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!equal(context, a[i], b[i])) return less(context, a[i], b[i]);
  }
  return a.size() < b.size();
}

bool orderable(const Value& left, const Value& right) {
  Number a, b;
  if (as_number(left, a) && as_number(right, b)) return true;
  if (left.is_text() && right.is_text()) return true;
  const List *x = left.list(), *y = right.list();
  return x != nullptr && y != nullptr && x->kind == y->kind && x->kind <= List::Kind::kTuple;
}

void require_orderable(Comparison comparison, const Value& left, const Value& right) {
  require_defined(left);
  require_defined(right);
  if (orderable(left, right)) return;
  fail("'" + std::string(symbol(comparison)) + "' not supported between instances of '" + type_name(left) + "' and '" +
       type_name(right) + "'");
}

}  // namespace

bool equal(RenderContext& context, const Value& left, const Value& right) {
  const DepthGuard guard(context);
  context.charge();
  Number a, b;
  if (as_number(left, a) && as_number(right, b)) {
    return a.is_float || b.is_float ? a.floating == b.floating : a.integer == b.integer;
  }
  if (left.is_text() && right.is_text()) {
    context.charge_bytes(std::min(left.text()->size(), right.text()->size()));
    return *left.text() == *right.text();
  }
  if (left.list() != nullptr && right.list() != nullptr) return equal_lists(context, *left.list(), *right.list());
  if (left.dict() != nullptr && right.dict() != nullptr) return equal_dicts(context, *left.dict(), *right.dict());
  if (left.callable() != nullptr || left.loop() != nullptr) {
    return left.callable() == right.callable() && left.loop() == right.loop();
  }
  return (left.is_none() && right.is_none()) || (left.is_undefined() && right.is_undefined());
}

bool less(RenderContext& context, const Value& left, const Value& right) {
  return compare(context, Comparison::kLess, left, right);
}

bool compare(RenderContext& context, Comparison comparison, const Value& left, const Value& right) {
  switch (comparison) {
    case Comparison::kEqual: return equal(context, left, right);
    case Comparison::kNotEqual: return !equal(context, left, right);
    case Comparison::kIn: return contains(context, right, left);
    case Comparison::kNotIn: return !contains(context, right, left);
    default: break;
  }
  const DepthGuard guard(context);
  context.charge();
  require_orderable(comparison, left, right);
  const bool swaps = comparison == Comparison::kGreater || comparison == Comparison::kGreaterEqual;
  const Value &low = swaps ? right : left, &high = swaps ? left : right;
  const bool or_equal = comparison == Comparison::kLessEqual || comparison == Comparison::kGreaterEqual;
  if (or_equal && equal(context, left, right)) return true;
  Number a, b;
  if (as_number(low, a) && as_number(high, b)) {
    return a.is_float || b.is_float ? a.floating < b.floating : a.integer < b.integer;
  }
  if (low.is_text()) {
    context.charge_bytes(std::min(low.text()->size(), high.text()->size()));
    return *low.text() < *high.text();  // UTF-8 sorts as its code points do
  }
  return less_lists(context, low.list()->items, high.list()->items);
}

bool contains(RenderContext& context, const Value& container, const Value& item) {
  if (const std::string* text = container.text()) {
    if (!item.is_text()) fail("'in <string>' requires string as left operand, not " + type_name(item));
    context.charge_bytes(text->size());
    return find_text(*text, *item.text()) != std::string_view::npos;
  }
  if (const Dict* dict = container.dict(); dict != nullptr && dict->kind == Dict::Kind::kDict) {
    return dict->find(item) != nullptr;
  }
  if (const List* list = container.list()) {
    for (const Value& element : list->items) {
      if (equal(context, element, item)) return true;
    }
    return false;
  }
  if (container.is_undefined()) return false;
  fail("argument of type '" + type_name(container) + "' is not iterable");
}

std::vector<Value> iterate(RenderContext& context, const Value& value) {
  if (const List* list = value.list()) {
    context.charge(list->items.size());
    return list->items;
  }
  std::vector<Value> items;
  if (const std::string* text = value.text()) {
    context.charge(text->size());
    for (const std::string_view character : characters(*text)) items.push_back(context.text(std::string(character)));
  } else if (const Dict* dict = value.dict(); dict != nullptr && dict->kind == Dict::Kind::kDict) {
    context.charge(dict->entries().size());
    for (const auto& entry : dict->entries()) items.push_back(entry.first);
  } else if (!value.is_undefined()) {
    fail("'" + type_name(value) + "' object is not iterable");
  }
  return items;
}

std::size_t length(const Value& value) {
  if (const std::string* text = value.text()) return count_characters(*text);
  if (const List* list = value.list(); list != nullptr && list->kind != List::Kind::kGenerator) {
    return list->items.size();
  }
  if (const Dict* dict = value.dict(); dict != nullptr && dict->kind == Dict::Kind::kDict) {
    return dict->entries().size();
  }
  if (!value.is_undefined()) fail("object of type '" + type_name(value) + "' has no len()");
  return 0;
}

}  // namespace trireme::chat::jinja
