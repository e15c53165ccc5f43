#include "launch/doctor/findings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace trireme::launch {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::string gibibytes(std::int64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
  return text.data();
}

std::string name_of(const RankHealth& rank) {
  return "rank " + std::to_string(rank.rank) + " (" + rank.host + ")";
}

// The ranks for which `is_so`, named: "rank 1 (b), rank 3 (b)".
template <typename Predicate>
std::string names_where(const JobHealth& health, const Predicate& is_so) {
  std::string names;
  for (const RankHealth& rank : health.ranks) {
    if (is_so(rank)) names += (names.empty() ? "" : ", ") + name_of(rank);
  }
  return names;
}

Finding about_versions(const JobHealth& health) {
  std::set<std::string> versions;
  for (const RankHealth& rank : health.ranks)
    versions.insert("trireme " + rank.trireme_version + ", " + rank.mpi_version);
  if (versions.size() == 1) return {Severity::kFine, "versions", *versions.begin(), ""};
  std::string all;
  for (const std::string& version : versions) all += (all.empty() ? "" : "; ") + version;
  return {Severity::kError, "versions", "ranks differ: " + all,
          "install the same program and MPI library on all hosts"};
}

Finding about_ranks(const JobHealth& health) {
  std::set<std::string> hosts;
  for (const RankHealth& rank : health.ranks) hosts.insert(rank.host);
  return {Severity::kFine, "ranks",
          std::to_string(health.ranks.size()) + " ranks on " + std::to_string(hosts.size()) + " hosts", ""};
}

Finding about_cores(const JobHealth& health) {
  const std::string crowded = names_where(health, [](const RankHealth& rank) { return !rank.cores_are_exclusive; });
  if (!crowded.empty()) {
    return {Severity::kWarning, "cores", "threads share cores: " + crowded,
            "start fewer ranks per host, or fewer --threads"};
  }
  std::string shares;
  for (const RankHealth& rank : health.ranks) {
    shares += (shares.empty() ? "" : "; ") + name_of(rank) + " " + std::to_string(rank.num_threads) +
              " threads on CPUs " + rank.cpus;
  }
  return {Severity::kFine, "cores", shares, ""};
}

Finding about_unused_cores(const JobHealth& health) {
  const RankHealth* first = &health.ranks.front();
  const int used = first->num_threads * first->local_size;
  if (used >= first->num_cores_on_host) return {Severity::kFine, "unused cores", "none", ""};
  return {Severity::kWarning, "unused cores",
          std::to_string(first->num_cores_on_host - used) + " of " + std::to_string(first->num_cores_on_host) +
              " cores of " + first->host + " are left idle",
          "raise --threads, or start under a wider binding (mpirun --bind-to none)"};
}

Finding about_instructions(const JobHealth& health) {
  const auto fewest = std::min_element(health.ranks.begin(), health.ranks.end(), [](const auto& a, const auto& b) {
    return a.num_instruction_sets < b.num_instruction_sets;
  });
  const auto most = std::max_element(health.ranks.begin(), health.ranks.end(), [](const auto& a, const auto& b) {
    return a.num_instruction_sets < b.num_instruction_sets;
  });
  if (fewest->num_instruction_sets == 0) {
    return {Severity::kWarning, "instruction set",
            name_of(*fewest) + " has no AVX2: only plain kernels run, very slowly",
            "use hosts with AVX2, FMA and F16C"};
  }
  if (fewest->num_instruction_sets < most->num_instruction_sets) {
    return {Severity::kWarning, "instruction set",
            name_of(*fewest) + " has less than " + name_of(*most) + ", and all ranks use what is common to all",
            "use hosts of one kind"};
  }
  return {Severity::kFine, "instruction set", fewest->processor, ""};
}

Finding about_memory(const JobHealth& health) {
  const auto usable = [](const RankHealth& rank) {
    return std::min(rank.available_bytes, rank.cgroup_available_bytes.value_or(rank.available_bytes)) / rank.local_size;
  };
  const auto least = std::min_element(health.ranks.begin(), health.ranks.end(),
                                      [&](const auto& a, const auto& b) { return usable(a) < usable(b); });
  std::string text = gibibytes(usable(*least)) + " per rank at least, on " + least->host;
  if (least->cgroup_limit_bytes) text += "; its control group allows " + gibibytes(*least->cgroup_limit_bytes);
  if (usable(*least) < 64 * kMiB) {
    return {Severity::kError, "memory", text,
            "free memory, raise the limit of the job or container, or use more hosts"};
  }
  if (usable(*least) < kGiB)
    return {Severity::kWarning, "memory", text, "small models only; use more hosts for others"};
  return {Severity::kFine, "memory", text, ""};
}

Finding about_huge_pages(const JobHealth& health) {
  const std::string without = names_where(
      health, [](const RankHealth& rank) { return rank.huge_pages != "always" && rank.huge_pages != "madvise"; });
  if (without.empty()) return {Severity::kFine, "huge pages", health.ranks.front().huge_pages, ""};
  return {Severity::kWarning, "huge pages", "off for " + without + ": reading weights is up to twice as slow",
          "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root"};
}

Finding about_shared_memory(const JobHealth& health) {
  constexpr std::int64_t kPerRank = 16 * kMiB;  // Open MPI's segments of a rank, with room
  const std::string small = names_where(health, [](const RankHealth& rank) {
    return rank.local_size > 1 && rank.shm_free_bytes < kPerRank * rank.local_size;
  });
  if (small.empty()) return {Severity::kFine, "/dev/shm", "large enough for the ranks of a host", ""};
  return {Severity::kError, "/dev/shm", "less than 16 MiB per rank is free for " + small,
          "start the container with --shm-size 1g, or clear /dev/shm"};
}

Finding about_open_files(const JobHealth& health) {
  constexpr std::int64_t kFew = 1024;
  const std::string few = names_where(health, [](const RankHealth& rank) { return rank.max_open_files < kFew; });
  if (few.empty()) return {Severity::kFine, "open files", "at least 1024 may be open", ""};
  return {Severity::kWarning, "open files", "fewer than 1024 may be open for " + few, "ulimit -n 4096"};
}

Finding about_single_copy(const JobHealth& health) {
  const std::string without =
      names_where(health, [](const RankHealth& rank) { return rank.local_size > 1 && !rank.may_read_peers; });
  if (without.empty()) return {Severity::kFine, "transfers in a host", "processes may copy from each other", ""};
  return {Severity::kWarning, "transfers in a host",
          "processes may not read each other's memory: " + without + "; large messages are copied twice",
          "sysctl kernel.yama.ptrace_scope=0, or docker run --cap-add SYS_PTRACE"};
}

Finding about_gpus(const JobHealth& health) {
  const device::GpuReport& gpu = health.ranks.front().gpu;
  if (!gpu.module_error.empty()) {
    return {Severity::kFine, "GPU", "no CUDA module: the CPU computes (" + gpu.module_error + ")", ""};
  }
  std::string text = "CUDA " + gpu.cuda_runtime_version + ", NCCL " + gpu.nccl_version;
  if (!gpu.error.empty()) return {Severity::kWarning, "GPU", text + ": " + gpu.error, "look at nvidia-smi"};
  for (const device::Gpu& each : gpu.gpus) text += "; " + each.name + ", " + gibibytes(each.total_bytes);
  return {Severity::kFine, "GPU", text, ""};
}

Finding about_pair(const PairHealth& pair, bool same_host) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "ranks %d and %d: %.1f us, %.2f GB/s", pair.from, pair.to, pair.latency_us,
                pair.gb_per_s);
  const bool slow =
      same_host ? pair.latency_us > 100.0 || pair.gb_per_s < 0.5 : pair.latency_us > 500.0 || pair.gb_per_s < 0.1;
  if (!slow) return {Severity::kFine, "link", text.data(), ""};
  return {Severity::kWarning, "link", text.data(),
          same_host ? "cores are busy or shared: end other work, or start fewer ranks"
                    : "the messages may take a slow network: choose it, e.g. mpirun --mca btl_tcp_if_include eth0"};
}

}  // namespace

std::vector<Finding> diagnose(const JobHealth& health) {
  std::vector<Finding> findings = {about_versions(health),     about_ranks(health),         about_cores(health),
                                   about_unused_cores(health), about_instructions(health),  about_memory(health),
                                   about_huge_pages(health),   about_shared_memory(health), about_open_files(health),
                                   about_single_copy(health),  about_gpus(health)};
  for (const PairHealth& pair : health.pairs) {
    const auto host = [&](int rank) { return health.ranks.at(static_cast<std::size_t>(rank)).host; };
    findings.push_back(about_pair(pair, host(pair.from) == host(pair.to)));
  }
  return findings;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kFine: return "ok";
    case Severity::kWarning: return "warning";
    case Severity::kError: return "error";
  }
  return "?";
}

}  // namespace trireme::launch
