#include "launch/request_json/field_reader.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

std::string in_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

const nlohmann::json* FieldReader::find(const std::string& name, Null null) {
  known_.insert(name);
  const auto found = object_.find(name);
  if (found == object_.end() || (found->is_null() && null == Null::kAbsent)) return nullptr;
  return &*found;
}

std::optional<std::int64_t> FieldReader::integer(const std::string& name, std::int64_t least, std::int64_t greatest,
                                                 Null null) {
  const nlohmann::json* value = find(name, null);
  if (value == nullptr) return std::nullopt;
  // What exceeds int64 is an unsigned number, or beyond 2^64 a float.
  const bool fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX}
                                                : value->is_number_integer();
  if (fits && value->get<std::int64_t>() >= least && value->get<std::int64_t>() <= greatest)
    return value->get<std::int64_t>();
  fail(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(greatest));
  return std::nullopt;
}

std::optional<std::uint64_t> FieldReader::unsigned_integer(const std::string& name, Null null) {
  const nlohmann::json* value = find(name, null);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  fail(name, "must be a whole number from 0 to 18446744073709551615");
  return std::nullopt;
}

std::optional<double> FieldReader::number(const std::string& name, double least, double greatest, Null null) {
  const nlohmann::json* value = find(name, null);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const auto given = value->get<double>();
    if (given >= least && given <= greatest) return given;
  }
  fail(name, "must be a number from " + in_digits(least) + " to " + in_digits(greatest));
  return std::nullopt;
}

std::optional<bool> FieldReader::boolean(const std::string& name, Null null) {
  const nlohmann::json* value = find(name, null);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  fail(name, "must be true or false");
  return std::nullopt;
}

std::optional<std::string> FieldReader::text(const std::string& name, std::size_t max_bytes, Null null) {
  const nlohmann::json* value = find(name, null);
  if (value == nullptr) return std::nullopt;
  if (value->is_string() && value->get_ref<const std::string&>().size() <= max_bytes) return value->get<std::string>();
  fail(name, "must be a text of at most " + std::to_string(max_bytes) + " bytes");
  return std::nullopt;
}

const nlohmann::json* FieldReader::value(const std::string& name) {
  return find(name, Null::kAbsent);
}

void FieldReader::refuse(const std::string& name, const std::string& why) {
  if (find(name, Null::kAbsent) != nullptr) fail(name, why);
}

void FieldReader::fail(const std::string& field, const std::string& message) {
  if (!error_) error_ = RequestError{field, field.empty() ? message : field + ": " + message};
}

std::vector<std::string> FieldReader::unknown_fields() const {
  std::vector<std::string> unknown;
  for (const auto& item : object_.items()) {
    if (!known_.contains(item.key())) unknown.push_back(item.key());
  }
  return unknown;
}

}  // namespace trireme::launch
