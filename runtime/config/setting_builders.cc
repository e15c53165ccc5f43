#include "runtime/config/setting_builders.h"

namespace trireme::config {

Setting describe(const Description& description, ValueType type, std::string unit, std::string range) {
  Setting setting;
  setting.section = description.section;
  setting.name = description.name;
  setting.flag = description.flag;
  setting.help = description.help;
  setting.type = type;
  setting.unit = std::move(unit);
  setting.range = std::move(range);
  return setting;
}

base::Result<std::int64_t> parse_in_range(std::string_view text, const WholeRange& range) {
  if (range.or_auto && text == "auto") return std::int64_t{0};
  base::Result<std::int64_t> value = parse_whole_number(text, range.unit);
  if (!value) {
    return range.or_auto ? base::invalid_argument(value.error().message + ", or auto") : value.error();
  }
  if (*value < range.min || *value > range.max || *value % range.multiple_of != 0) {
    return base::invalid_argument("must be " + describe_range(range));
  }
  return value;
}

std::string describe_range(const WholeRange& range) {
  std::string text = format_whole_number(range.min, range.unit) + " to " + format_whole_number(range.max, range.unit);
  if (range.multiple_of != 1) text += ", a multiple of " + std::to_string(range.multiple_of);
  if (range.or_auto) text += ", or auto";
  return text;
}

base::Result<double> parse_real_in_range(std::string_view text, double min, double max) {
  base::Result<double> value = parse_real_number(text);
  if (value && (*value < min || *value > max)) {
    return base::invalid_argument("must be " + format_real_number(min) + " to " + format_real_number(max));
  }
  return value;
}

std::string join_choices(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace trireme::config
