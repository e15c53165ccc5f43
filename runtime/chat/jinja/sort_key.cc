#include "runtime/chat/jinja/sort_key.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "runtime/chat/jinja/member_access.h"
#include "runtime/chat/jinja/operators.h"
#include "runtime/chat/jinja/template_error.h"
#include "runtime/chat/jinja/utf8.h"

namespace trireme::chat::jinja {

Value attribute_path(RenderContext& context, const Value& item, const Value& path) {
  if (!path.is_text()) return get_element(context, item, path);
  Value value = item;
  const std::string_view names = *path.text();
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find('.', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    std::int64_t index = 0;
    const auto result = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index = !name.empty() && result.ec == std::errc() && result.ptr == name.data() + name.size();
    value = get_element(context, value, is_index ? Value(index) : context.text(std::string(name)));
    begin = end + 1;
  }
  return value;
}

Value sort_key(RenderContext& context, const Value& item, const Value* attribute, bool case_sensitive) {
  const Value key = attribute == nullptr || attribute->is_none() ? item : attribute_path(context, item, *attribute);
  return key.is_text() && !case_sensitive ? context.text(to_lower(*key.text())) : key;
}

std::vector<Value> sorted_by_key(RenderContext& context, const std::vector<std::pair<Value, Value>>& keyed,
                                 bool reverse) {
  std::vector<std::size_t> order(keyed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (reverse) std::swap(a, b);
    return less(context, keyed[a].first, keyed[b].first);
  });
  std::vector<Value> sorted;
  sorted.reserve(keyed.size());
  for (const std::size_t i : order) sorted.push_back(keyed[i].second);
  return sorted;
}

}  // namespace trireme::chat::jinja
