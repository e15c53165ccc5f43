#include "runtime/config/load.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "runtime/config/nearest_name.h"
#include "runtime/config/settings_file.h"
#include "runtime/config/value_syntax.h"

namespace trireme::config {
namespace {

constexpr std::string_view kVariablePrefix = "TRIREME_";
constexpr std::size_t kMaxValueBytes = 4096;
constexpr std::size_t kMaxShownBytes = 60;

ResolvedConfig defaults() {
  ResolvedConfig resolved;
  resolved.table = config_table();
  resolved.origins.resize(resolved.table.size());
  return resolved;
}

template <typename Predicate>
std::optional<std::size_t> find_setting(const std::vector<Setting>& table, Predicate matches) {
  const auto found = std::find_if(table.begin(), table.end(), matches);
  if (found == table.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.begin());
}

base::Status store(ResolvedConfig& resolved, std::size_t index, std::string_view value, Origin origin) {
  const Setting& setting = resolved.table[index];
  std::size_t bad_offset = 0;
  base::Status status = base::ok_status();
  if (value.size() > kMaxValueBytes) {
    status = base::invalid_argument("the value is longer than 4096 bytes");
  } else if (!is_plain_utf8(value, {}, bad_offset)) {
    status = base::invalid_argument("not UTF-8 text, or a control character");
  } else {
    status = setting.parse(resolved.config, value);
  }
  if (!status) {
    const std::string place = origin.where + ": " + setting.key();
    const bool printable = value.size() <= kMaxShownBytes && is_plain_utf8(value, {}, bad_offset);
    const std::string shown = printable ? " '" + std::string(value) + "'" : std::string{};
    return base::invalid_argument(place + shown + ": " + status.error().message);
  }
  resolved.origins[index] = std::move(origin);
  return base::ok_status();
}

// The message for a key that is not in the table; names its nearest neighbour in the section, or the section meant.
std::string unknown_key(const ResolvedConfig& resolved, const FileSetting& given, std::string_view file_name) {
  std::vector<std::string> sections, names;
  std::string elsewhere;
  for (const Setting& setting : resolved.table) {
    if (sections.empty() || sections.back() != setting.section) sections.push_back(setting.section);
    if (setting.section == given.section) names.push_back(setting.name);
    if (setting.name == given.name) elsewhere = setting.key();
  }
  const bool known_section = !names.empty();
  if (!known_section) {
    return describe_position(file_name, given.section_position) + ": unknown key '" + given.section + "'" +
           did_you_mean(given.section, sections);
  }
  const std::string hint = elsewhere.empty() ? did_you_mean(given.name, names) : " (did you mean '" + elsewhere + "')";
  return describe_position(file_name, given.name_position) + ": unknown key '" + given.name + "' in section '" +
         given.section + "'" + hint;
}

base::Status check_type(const Setting& setting, const FileSetting& given) {
  if (given.is_null) return base::invalid_argument("has no value; expected " + setting.range);
  const bool list = setting.type == ValueType::kList || setting.type == ValueType::kTextList;
  if (given.is_list && !list) {
    return base::invalid_argument("is a list; expected " + setting.range);
  }
  const bool text =
      setting.type == ValueType::kText || setting.type == ValueType::kTextList || setting.type == ValueType::kChoice;
  if (given.is_quoted && !text) return base::invalid_argument("is text in quotes; expected " + setting.range);
  return base::ok_status();
}

base::Status apply_file(ResolvedConfig& resolved, const ConfigFile& file) {
  const base::Result<std::vector<FileSetting>> settings = read_settings_file(file.text, file.name);
  if (!settings) return settings.error();
  for (const FileSetting& given : *settings) {
    const std::optional<std::size_t> index = find_setting(resolved.table, [&](const Setting& setting) {
      return setting.section == given.section && setting.name == given.name;
    });
    if (!index) return base::invalid_argument(unknown_key(resolved, given, file.name));
    const std::string where = describe_position(file.name, given.value_position);
    const Setting& setting = resolved.table[*index];
    if (const base::Status type = check_type(setting, given); !type) {
      return base::invalid_argument(where + ": " + setting.key() + " " + type.error().message);
    }
    const base::Status stored = store(resolved, *index, given.value, {Source::kFile, where});
    if (!stored) return stored;
  }
  return base::ok_status();
}

// Variables of other programs may begin with TRIREME_ too (TRIREME_ROOT of a module system), so an unknown one is an
// error only where it begins with one of our sections, or nearly spells one of our names.
bool looks_like_a_setting(const std::string& variable, const std::vector<Setting>& table) {
  return std::any_of(table.begin(), table.end(), [&](const Setting& setting) {
    const std::string name = setting.environment_name();
    const std::string section = name.substr(0, name.size() - setting.name.size());
    return variable.starts_with(section) || edit_distance(variable, name) <= 2;
  });
}

base::Status apply_environment(ResolvedConfig& resolved, const std::map<std::string, std::string>& environment) {
  std::vector<std::string> names;
  for (const Setting& setting : resolved.table) names.push_back(setting.environment_name());
  for (const auto& entry : environment) {
    const std::string& variable = entry.first;
    if (!variable.starts_with(kVariablePrefix)) continue;
    const std::optional<std::size_t> index =
        find_setting(resolved.table, [&](const Setting& setting) { return setting.environment_name() == variable; });
    if (index) {
      const base::Status stored = store(resolved, *index, entry.second, {Source::kEnvironment, variable});
      if (!stored) return stored;
    } else if (looks_like_a_setting(variable, resolved.table)) {
      return base::invalid_argument("environment: unknown variable '" + variable + "'" + did_you_mean(variable, names));
    }
  }
  return base::ok_status();
}

base::Status apply_overrides(ResolvedConfig& resolved, const std::vector<Override>& overrides) {
  for (const Override& given : overrides) {
    const std::optional<std::size_t> index =
        find_setting(resolved.table, [&](const Setting& setting) { return setting.key() == given.key; });
    if (!index) return base::invalid_argument(given.spelling + ": unknown key '" + given.key + "'");
    const base::Status stored = store(resolved, *index, given.value, {Source::kCommandLine, given.spelling});
    if (!stored) return stored;
  }
  return base::ok_status();
}

}  // namespace

base::Result<ResolvedConfig> load(const ConfigSources& sources) {
  ResolvedConfig resolved = defaults();
  if (sources.file) {
    if (const base::Status status = apply_file(resolved, *sources.file); !status) return status.error();
  }
  if (const base::Status status = apply_environment(resolved, sources.environment); !status) return status.error();
  if (const base::Status status = apply_overrides(resolved, sources.overrides); !status) return status.error();
  return resolved;
}

}  // namespace trireme::config
