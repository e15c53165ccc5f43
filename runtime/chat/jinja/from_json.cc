#include <nlohmann/json.hpp>

#include "runtime/chat/jinja/json_text.h"

namespace trireme::chat::jinja {
namespace {

Value from_array(RenderContext& context, const nlohmann::ordered_json& json) {
  List* list = context.list();
  list->items.reserve(json.size());
  for (const auto& item : json) list->items.push_back(from_json(context, item));
  return list;
}

Value from_object(RenderContext& context, const nlohmann::ordered_json& json) {
  Dict* dict = context.dict();
  for (const auto& [key, value] : json.items()) {
    dict->set(Value(std::make_shared<const std::string>(key)), from_json(context, value));
  }
  return dict;
}

}  // namespace

Value from_json(RenderContext& context, const nlohmann::ordered_json& json) {
  const DepthGuard guard(context);
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::object: return from_object(context, json);
    case Type::array: return from_array(context, json);
    case Type::string: return Value(std::make_shared<const std::string>(json.get_ref<const std::string&>()));
    case Type::boolean: return Value(json.get<bool>());
    case Type::number_integer: return Value(json.get<std::int64_t>());
    case Type::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      if (number > INT64_MAX) return Value(static_cast<double>(number));
      return Value(static_cast<std::int64_t>(number));
    }
    case Type::number_float: return Value(json.get<double>());
    default: return Value();
  }
}

}  // namespace trireme::chat::jinja
