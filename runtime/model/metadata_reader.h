// MetadataReader: typed access to a checkpoint's metadata that collects the first error, so that an architecture reads
// its settings line by line and checks once at the end.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trireme::model {

class MetadataReader {
 public:
  // `where` names the file in messages. Keys are looked up with `prefix` in front ("llama." in GGUF).
  MetadataReader(const nlohmann::json& object, std::string where, std::string prefix = "")
      : object_(object), where_(std::move(where)), prefix_(std::move(prefix)) {}

  // A whole number in [1, 2^31); missing or wrong: an error.
  std::int32_t positive(std::string_view key);
  std::int32_t positive_or(std::string_view key, std::int32_t fallback);
  // A finite number; missing or null gives the fallback.
  double number_or(std::string_view key, double fallback);
  bool flag_or(std::string_view key, bool fallback);
  std::string text_or(std::string_view key, std::string fallback);
  const nlohmann::json* find(std::string_view key) const;  // null if missing or JSON null

  void fail(std::string_view key, std::string_view reason);
  const std::optional<base::Error>& error() const { return error_; }

 private:
  const nlohmann::json& object_;
  std::string where_, prefix_;
  std::optional<base::Error> error_;
};

}  // namespace trireme::model
