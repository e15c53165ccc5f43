#include "runtime/config/print.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace trireme::config {
namespace {

constexpr std::size_t kCommentColumn = 36;

// A double-quoted YAML scalar. Values hold no control characters: load() refuses them.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string yaml_value(const Setting& setting, const Config& config) {
  const std::string text = setting.format(config);
  if (setting.type == ValueType::kText) return quoted(text);
  if (setting.type != ValueType::kList && setting.type != ValueType::kTextList) return text;
  std::string items;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    items += (items.empty() ? "" : ", ") + (setting.type == ValueType::kTextList ? quoted(item) : item);
    begin = end + 1;
  }
  return "[" + items + "]";
}

std::string describe(const Origin& origin) {
  switch (origin.source) {
    case Source::kDefault: return "default";
    case Source::kFile: return "file " + origin.where;
    case Source::kEnvironment: return "environment " + origin.where;
    case Source::kCommandLine: return "command line " + origin.where;
  }
  return {};
}

// `comments`: one per setting of the table, or empty.
std::string render(const std::vector<Setting>& table, const Config& config, const std::vector<std::string>& comments) {
  std::string text, section;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Setting& setting = table[i];
    if (setting.section != section) text += setting.section + ":\n";
    section = setting.section;
    std::string line = "  " + setting.name + ": " + yaml_value(setting, config);
    if (!comments.empty()) {
      line.resize(std::max(line.size() + 2, kCommentColumn), ' ');
      line += "# " + comments[i];
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string to_yaml(const Config& config) {
  return render(config_table(), config, {});
}

std::string to_annotated_yaml(const ResolvedConfig& resolved) {
  std::vector<std::string> comments;
  for (const Origin& origin : resolved.origins) comments.push_back(describe(origin));
  return render(resolved.table, resolved.config, comments);
}

std::string value_text(const Config& config, std::string_view key) {
  const std::vector<Setting> table = config_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Setting& setting) { return setting.key() == key; });
  TRIREME_CHECK(found != table.end()) << key;
  return found->format(config);
}

std::optional<Difference> first_difference(const Config& left, const Config& right) {
  for (const Setting& setting : config_table()) {
    std::string left_text = setting.format(left), right_text = setting.format(right);
    if (left_text != right_text) return Difference{setting.key(), std::move(left_text), std::move(right_text)};
  }
  return std::nullopt;
}

}  // namespace trireme::config
