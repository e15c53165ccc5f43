// The control groups of this process: one folder per level of the hierarchy that governs a resource.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace trireme::device {

enum class CgroupVersion { kV1, kV2 };

struct CgroupLevels {
  CgroupVersion version = CgroupVersion::kV2;
  std::vector<std::filesystem::path> folders;  // from the process's own group up to the mount; those that exist
};

// Levels of `controller` ("memory"); no folders where the host has no such control group. Within a container whose
// group's path is not visible below the mount, the mount itself is the container's group.
CgroupLevels cgroup_levels(std::string_view controller, const std::filesystem::path& root);

// A file that holds one number; nothing if it is missing or says "max".
std::optional<std::int64_t> read_number(const std::filesystem::path& file);

// The number after `name` in a file of "name number" lines (meminfo's "name: number" too).
std::optional<std::int64_t> read_number_of(const std::filesystem::path& file, std::string_view name);

}  // namespace trireme::device
