#include "runtime/model/metadata_reader.h"

#include <cmath>

namespace trireme::model {

const nlohmann::json* MetadataReader::find(std::string_view key) const {
  const auto found = object_.find(prefix_ + std::string(key));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void MetadataReader::fail(std::string_view key, std::string_view reason) {
  if (error_) return;
  error_ = base::invalid_argument(where_ + ": " + prefix_ + std::string(key) + " " + std::string(reason));
}

std::int32_t MetadataReader::positive(std::string_view key) {
  if (find(key) == nullptr) {
    fail(key, "is missing");
    return 1;
  }
  return positive_or(key, 1);
}

std::int32_t MetadataReader::positive_or(std::string_view key, std::int32_t fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  const bool whole = value->is_number_integer();
  const bool in_range = whole && *value >= 1 && *value <= 0x7FFFFFFF;
  if (in_range) return value->get<std::int32_t>();
  fail(key, "must be a whole number of at least 1");
  return 1;
}

double MetadataReader::number_or(std::string_view key, double fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_number() && std::isfinite(value->get<double>())) return value->get<double>();
  fail(key, "must be a finite number");
  return fallback;
}

bool MetadataReader::flag_or(std::string_view key, bool fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  fail(key, "must be true or false");
  return fallback;
}

std::string MetadataReader::text_or(std::string_view key, std::string fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  fail(key, "must be a string");
  return fallback;
}

}  // namespace trireme::model
