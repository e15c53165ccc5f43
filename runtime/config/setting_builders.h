// Builders of one Setting per type of value, used by config_table.cc alone. `Access` maps a (const) Config& to the
// field.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/config/config_table.h"
#include "runtime/config/value_syntax.h"

namespace trireme::config {

// What every setting states about itself.
struct Description {
  std::string_view section, name, flag, help;
};

Setting describe(const Description& description, ValueType type, std::string unit, std::string range);

// Bounds of a whole number, both included. `or_auto`: "auto" is accepted too and stored as 0.
struct WholeRange {
  Unit unit = Unit::kCount;
  std::string_view unit_name;
  std::int64_t min = 0, max = 0;
  bool or_auto = false;
  std::int64_t multiple_of = 1;
};
base::Result<std::int64_t> parse_in_range(std::string_view text, const WholeRange& range);
std::string describe_range(const WholeRange& range);

template <typename Access>
Setting whole_number(const Description& description, Access field, WholeRange range) {
  using Integer = std::remove_cvref_t<decltype(field(std::declval<Config&>()))>;
  Setting setting = describe(description, ValueType::kWholeNumber, std::string(range.unit_name), describe_range(range));
  setting.parse = [field, range](Config& config, std::string_view text) -> base::Status {
    const base::Result<std::int64_t> value = parse_in_range(text, range);
    if (!value) return value.error();
    TRIREME_CHECK(*value <= std::numeric_limits<Integer>::max()) << text;
    field(config) = static_cast<Integer>(*value);
    return base::ok_status();
  };
  setting.format = [field, range](const Config& config) {
    const std::int64_t value = field(config);
    return range.or_auto && value == 0 ? std::string("auto") : format_whole_number(value, range.unit);
  };
  return setting;
}

base::Result<double> parse_real_in_range(std::string_view text, double min, double max);

template <typename Access>
Setting real_number(const Description& description, Access field, double min, double max) {
  Setting setting =
      describe(description, ValueType::kRealNumber, "", format_real_number(min) + " to " + format_real_number(max));
  setting.parse = [field, min, max](Config& config, std::string_view text) -> base::Status {
    const base::Result<double> value = parse_real_in_range(text, min, max);
    if (!value) return value.error();
    field(config) = *value;
    return base::ok_status();
  };
  setting.format = [field](const Config& config) { return format_real_number(field(config)); };
  return setting;
}

template <typename Access>
Setting boolean(const Description& description, Access field) {
  Setting setting = describe(description, ValueType::kBoolean, "", "true or false");
  setting.parse = [field](Config& config, std::string_view text) -> base::Status {
    const base::Result<bool> value = parse_boolean(text);
    if (!value) return value.error();
    field(config) = *value;
    return base::ok_status();
  };
  setting.format = [field](const Config& config) { return std::string(field(config) ? "true" : "false"); };
  return setting;
}

template <typename Access>
Setting text(const Description& description, Access field, std::string range) {
  Setting setting = describe(description, ValueType::kText, "", std::move(range));
  setting.parse = [field](Config& config, std::string_view value) {
    field(config) = value;
    return base::ok_status();
  };
  setting.format = [field](const Config& config) { return field(config); };
  return setting;
}

// Rising whole numbers from 1 to `max`, stored as a list.
template <typename Access>
Setting rising_list(const Description& description, Access field, std::string unit, std::int32_t max) {
  const std::string range = "rising numbers from 1 to " + std::to_string(max);
  Setting setting = describe(description, ValueType::kList, std::move(unit), range);
  setting.parse = [field, range, max](Config& config, std::string_view value) -> base::Status {
    const base::Result<std::vector<std::int64_t>> numbers = parse_list(value);
    if (!numbers) return numbers.error();
    std::int64_t previous = 0;
    for (const std::int64_t number : *numbers) {
      if (number <= previous || number > max) return base::invalid_argument("must be " + range);
      previous = number;
    }
    field(config).assign(numbers->begin(), numbers->end());
    return base::ok_status();
  };
  setting.format = [field](const Config& config) {
    std::string list;
    for (const std::int32_t number : field(config)) list += (list.empty() ? "" : ",") + std::to_string(number);
    return list;
  };
  return setting;
}

std::string join_choices(const std::vector<std::string>& names);  // "a, b or c"

// One of several names, each with the value it stands for.
template <typename Access, typename Value>
Setting choice(const Description& description, Access field, std::vector<std::pair<std::string, Value>> choices) {
  std::vector<std::string> names;
  for (const auto& entry : choices) names.push_back(entry.first);
  Setting setting = describe(description, ValueType::kChoice, "", join_choices(names));
  setting.parse = [field, choices, names](Config& config, std::string_view text) -> base::Status {
    for (const auto& [name, value] : choices) {
      if (name != text) continue;
      field(config) = value;
      return base::ok_status();
    }
    return base::invalid_argument("expected " + join_choices(names));
  };
  setting.format = [field, choices](const Config& config) {
    for (const auto& [name, value] : choices) {
      if (value == field(config)) return name;
    }
    TRIREME_CHECK(false) << "a field holds a value without a name";
    return std::string{};
  };
  return setting;
}

}  // namespace trireme::config
