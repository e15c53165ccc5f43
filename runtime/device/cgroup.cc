#include "runtime/device/cgroup.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

namespace trireme::device {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

bool contains_item(const std::string& comma_separated, std::string_view wanted) {
  std::istringstream items(comma_separated);
  for (std::string item; std::getline(items, item, ',');) {
    if (item == wanted) return true;
  }
  return false;
}

// The group's path in /proc/self/cgroup: "5:memory:/path" for version 1, "0::/path" for version 2.
std::optional<std::string> group_path(std::string_view controller, CgroupVersion version, const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool matches = version == CgroupVersion::kV2 ? controllers.empty() : contains_item(controllers, controller);
    if (matches) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::vector<fs::path> levels_below(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::path relative = fs::path(group).relative_path(); !relative.empty(); relative = relative.parent_path()) {
    if (fs::is_directory(mount / relative, error)) folders.push_back(mount / relative);
  }
  folders.push_back(mount);
  return folders;
}

}  // namespace

CgroupLevels cgroup_levels(std::string_view controller, const fs::path& root) {
  std::error_code error;
  const fs::path mount = root / "sys/fs/cgroup";
  const fs::path v1_mount = mount / controller;
  if (const auto group = group_path(controller, CgroupVersion::kV1, root); group && fs::is_directory(v1_mount, error)) {
    return {CgroupVersion::kV1, levels_below(v1_mount, *group)};
  }
  const auto group = group_path(controller, CgroupVersion::kV2, root);
  if (!group || !fs::is_directory(mount, error)) return {};
  return {CgroupVersion::kV2, levels_below(mount, *group)};
}

std::optional<std::int64_t> read_number(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  if (!(stream >> word)) return std::nullopt;
  return to_number(word);
}

std::optional<std::int64_t> read_number_of(const fs::path& file, std::string_view name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string key, value;
    words >> key >> value;
    if (key.ends_with(':')) key.pop_back();
    if (key == name) return to_number(value);
  }
  return std::nullopt;
}

}  // namespace trireme::device
