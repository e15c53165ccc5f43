#include "runtime/device/host_memory.h"

#include <algorithm>

#include "runtime/device/cgroup.h"

namespace trireme::device {
namespace {

struct CgroupFiles {
  const char* limit;
  const char* use;
  const char* cache;  // in memory.stat
};

constexpr CgroupFiles kV1Files = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr CgroupFiles kV2Files = {"memory.max", "memory.current", "inactive_file"};

// Version 1 says "no limit" with the largest multiple of the page size.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

void tighten(std::optional<std::int64_t>& bound, std::int64_t value) {
  bound = std::min(bound.value_or(value), value);
}

}  // namespace

std::int64_t HostMemory::usable_bytes() const {
  return std::min(available_bytes, cgroup_available_bytes.value_or(available_bytes));
}

HostMemory read_host_memory(const std::filesystem::path& root) {
  HostMemory memory;
  memory.available_bytes = read_number_of(root / "proc/meminfo", "MemAvailable").value_or(0) * 1024;
  const CgroupLevels levels = cgroup_levels("memory", root);
  const CgroupFiles& files = levels.version == CgroupVersion::kV1 ? kV1Files : kV2Files;
  for (const std::filesystem::path& folder : levels.folders) {
    const std::optional<std::int64_t> limit = read_number(folder / files.limit);
    if (!limit || *limit >= kNoLimit) continue;
    const std::int64_t use = read_number(folder / files.use).value_or(0);
    const std::int64_t cache = read_number_of(folder / "memory.stat", files.cache).value_or(0);
    tighten(memory.cgroup_limit_bytes, *limit);
    tighten(memory.cgroup_available_bytes, std::max<std::int64_t>(0, *limit - use + cache));
  }
  return memory;
}

}  // namespace trireme::device
