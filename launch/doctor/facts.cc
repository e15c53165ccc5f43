#include "launch/doctor/facts.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kernels/cpu_ops.h"
#include "launch/doctor/health_json.h"
#include "launch/generation_output.h"
#include "launch/rank_cores.h"
#include "launch/version.h"
#include "parallel/mpi_environment.h"
#include "runtime/device/host_memory.h"
#include "runtime/device/processor_name.h"
#include "runtime/engine/agreement.h"

namespace trireme::launch {
namespace {

// The word in brackets of "always [madvise] never".
std::string chosen_word(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

std::int64_t free_bytes(const char* folder) {
  struct statvfs system = {};
  if (::statvfs(folder, &system) != 0) return -1;
  return static_cast<std::int64_t>(system.f_bavail) * static_cast<std::int64_t>(system.f_frsize);
}

std::int64_t max_open_files() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
}

// Yama restricts it beyond 0; root may all the same at 1 and 2.
bool may_read_peers() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  if (!(file >> scope)) return true;
  return scope == 0 || (scope < 3 && ::geteuid() == 0);
}

void finish(parallel::Communicator::Operation& operation) {
  while (!operation.test()) {
  }
}

// Half a round trip in seconds, the best of some; both ranks of a pair call it.
double half_round_trip(parallel::Communicator& world, int peer, std::vector<std::byte>& bytes, int rounds) {
  using Clock = std::chrono::steady_clock;
  const bool leads = world.rank() < peer;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    if (leads) finish(*world.isend(bytes, peer, parallel::Tag::kStartup));
    finish(*world.irecv(bytes, peer, parallel::Tag::kStartup));
    if (!leads) finish(*world.isend(bytes, peer, parallel::Tag::kStartup));
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / 2);
  }
  return best;
}

// What the lower of the two ranks has measured; the others know nothing of it.
PairHealth measure_pair(parallel::Communicator& world, int from, int to) {
  PairHealth pair{from, to, 0.0, 0.0};
  if (world.rank() != from && world.rank() != to) return pair;
  const int peer = world.rank() == from ? to : from;
  constexpr std::size_t kLargeBytes = std::size_t{1} << 20;
  std::vector<std::byte> small(8), large(kLargeBytes);
  pair.latency_us = half_round_trip(world, peer, small, 200) * 1e6;
  pair.gb_per_s = static_cast<double>(kLargeBytes) * 1e-9 / half_round_trip(world, peer, large, 20);
  return pair;
}

std::set<std::pair<int, int>> pairs_of(int size) {
  std::set<std::pair<int, int>> pairs;
  for (int rank = 1; rank < size; ++rank) pairs.insert({{0, rank}, {rank - 1, rank}});
  return pairs;
}

std::vector<RankHealth> gather(parallel::Communicator& world, const RankHealth& own) {
  const std::string text = to_line(to_json(own));
  std::vector<RankHealth> ranks;
  for (const auto& bytes : world.all_gather(std::as_bytes(std::span(text)))) {
    const std::string received(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ranks.push_back(rank_health_from_json(nlohmann::ordered_json::parse(received)));
  }
  return ranks;
}

}  // namespace

RankHealth examine_this_rank(const CommandContext& context) {
  RankHealth health;
  health.rank = context.world.rank();
  health.host = context.host;
  health.processor = device::processor_name();
  health.local_rank = context.local_rank;
  health.local_size = context.local_size;
  const device::RankCores share = cores_of_this_rank(context);
  health.cpus = device::describe_cpus(share.cores);
  health.num_threads = static_cast<int>(share.cores.size());
  health.num_cores_on_host = static_cast<int>(device::host_cores(device::Binding::kIgnore).size());
  health.cores_are_exclusive = share.exclusive;
  health.bound_by_launcher = context.bound_by_launcher;
  health.num_instruction_sets = static_cast<int>(kernels::available_instruction_sets().size());
  const device::HostMemory memory = device::read_host_memory();
  health.available_bytes = memory.available_bytes;
  health.cgroup_limit_bytes = memory.cgroup_limit_bytes;
  health.cgroup_available_bytes = memory.cgroup_available_bytes;
  health.huge_pages = chosen_word("/sys/kernel/mm/transparent_hugepage/enabled");
  health.shm_free_bytes = free_bytes("/dev/shm");
  health.max_open_files = max_open_files();
  health.may_read_peers = may_read_peers();
  health.trireme_version = version();
  health.mpi_version = parallel::MpiEnvironment::library_version();
  health.gpu = device::probe_gpus();
  return health;
}

JobHealth examine_job(const CommandContext& context) {
  parallel::Communicator& world = context.world;
  JobHealth health;
  health.ranks = gather(world, examine_this_rank(context));
  for (const auto& [from, to] : pairs_of(world.size())) {
    const PairHealth mine = measure_pair(world, from, to);
    health.pairs.push_back(engine::gather(world, mine).at(static_cast<std::size_t>(from)));
  }
  return health;
}

}  // namespace trireme::launch
