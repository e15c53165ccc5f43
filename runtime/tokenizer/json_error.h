// Reading JSON of an expected shape: nlohmann's accessors throw on a wrong type or a missing key; with_json_errors
// turns that into an Error, so that a reader can be written straight.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trireme::tokenizer {

// The result of `read()`, or the error that names `what`, e.g. "pre_tokenizer".
template <typename Read>
auto with_json_errors(std::string_view what, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const nlohmann::json::exception& error) {
    return base::invalid_argument(std::string(what) + ": " + error.what());
  }
}

inline nlohmann::json value_or_null(const nlohmann::json& object, const char* key) {
  const auto value = object.find(key);
  return value == object.end() ? nlohmann::json() : *value;
}

inline base::Error unsupported_type(std::string_view what, std::string_view type) {
  return base::unsupported(std::string(what) + " type \"" + std::string(type) + "\" is not supported");
}

// The steps of a "Sequence" one after the other, nested ones too, or the one step that `object` is, or none if it is
// null. `list`: the key under which a Sequence of this kind has its steps.
inline void flatten_sequence(const nlohmann::json& object, const char* list, std::vector<nlohmann::json>& steps) {
  if (object.is_null()) return;
  if (object.at("type") != "Sequence") {
    steps.push_back(object);
    return;
  }
  for (const nlohmann::json& step : object.at(list)) flatten_sequence(step, list, steps);
}

}  // namespace trireme::tokenizer
