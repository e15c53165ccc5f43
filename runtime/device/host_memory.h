// Memory of this host that a rank may plan with: what the kernel calls available, and what the control group (of a
// container or a Slurm job, version 1 or 2) still allows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace trireme::device {

struct HostMemory {
  std::int64_t available_bytes = 0;  // MemAvailable: free, or given up by the kernel on demand
  // The tightest limit among this process's control group and its parents; nothing if there is no limit.
  std::optional<std::int64_t> cgroup_limit_bytes;
  // What that limit leaves: limit - use + page cache that can be dropped. At least 0.
  std::optional<std::int64_t> cgroup_available_bytes;

  // The smaller of the two, for all ranks on the host together.
  std::int64_t usable_bytes() const;
};

// Reads proc and sys below `root`. Unreadable files count as no limit; an unreadable /proc/meminfo gives 0 available.
HostMemory read_host_memory(const std::filesystem::path& root = "/");

}  // namespace trireme::device
