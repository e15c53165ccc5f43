// A configuration as text: canonical YAML that ranks compare, and the annotated form of --print-config.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/config/config.h"
#include "runtime/config/load.h"

namespace trireme::config {

// All settings in the order of the table, in one spelling: equal configurations give equal text, and load() reads it
// back.
std::string to_yaml(const Config& config);

// The same with the origin of each value as a comment; load() reads it back too.
std::string to_annotated_yaml(const ResolvedConfig& resolved);

// The value of one setting in canonical spelling. Precondition: the table has `key`, e.g. "model.weights".
std::string value_text(const Config& config, std::string_view key);

// The first setting, in the order of the table, in which two configurations differ.
struct Difference {
  std::string key;
  std::string left, right;  // values in canonical spelling
};
std::optional<Difference> first_difference(const Config& left, const Config& right);

}  // namespace trireme::config
