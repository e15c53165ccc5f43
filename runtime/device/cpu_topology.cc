#include "runtime/device/cpu_topology.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"

namespace trireme::device {
namespace {

class Topology {
 public:
  Topology() { TRIREME_CHECK(hwloc_topology_init(&handle_) == 0) << "hwloc_topology_init"; }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  ~Topology() { hwloc_topology_destroy(handle_); }
  hwloc_topology_t get() const { return handle_; }

 private:
  hwloc_topology_t handle_ = nullptr;
};

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// Cores with at least one CPU in `allowed`. hwloc's logical order follows the tree of packages, NUMA nodes and caches.
std::vector<Core> collect(hwloc_topology_t topology, hwloc_const_cpuset_t allowed) {
  std::vector<Core> cores;
  const int num_cores = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
  for (int i = 0; i < num_cores; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    const Bitmap cpus(hwloc_bitmap_dup(object->cpuset));
    hwloc_bitmap_and(cpus.get(), cpus.get(), allowed);
    Core core;
    for (int cpu = hwloc_bitmap_first(cpus.get()); cpu >= 0; cpu = hwloc_bitmap_next(cpus.get(), cpu)) {
      core.cpus.push_back(cpu);
    }
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  return cores;
}

// The CPUs to which the kernel binds this process, each as a core: where hwloc knows no cores.
std::vector<Core> affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<Core> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cores.push_back({{cpu}});
    }
  }
  if (cores.empty()) cores.push_back({{0}});
  return cores;
}

}  // namespace

std::vector<Core> host_cores(Binding binding) {
  const Topology topology;
  if (hwloc_topology_load(topology.get()) != 0) return affinity_cores();
  const Bitmap allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology.get())));
  if (binding == Binding::kRespect) {
    const Bitmap bound(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_THREAD) == 0) {
      hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
    }
  }
  std::vector<Core> cores = collect(topology.get(), allowed.get());
  return cores.empty() ? affinity_cores() : cores;
}

std::vector<Core> synthetic_cores(const std::string& description) {
  const Topology topology;
  TRIREME_CHECK(hwloc_topology_set_synthetic(topology.get(), description.c_str()) == 0) << description;
  TRIREME_CHECK(hwloc_topology_load(topology.get()) == 0) << description;
  return collect(topology.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
}

RankCores cores_for_rank(const std::vector<Core>& cores, int local_rank, int local_size, int threads) {
  TRIREME_CHECK(!cores.empty() && local_rank >= 0 && local_rank < local_size && threads >= 0);
  const auto num_cores = static_cast<long>(cores.size());
  const long begin = local_rank * num_cores / local_size;
  const long share = (local_rank + 1) * num_cores / local_size - begin;
  const long wanted = threads > 0 ? threads : std::max(1L, share);
  // Who wants more than its even share begins there and runs on into that of others, from the last core to the first.
  RankCores result;
  result.exclusive = local_size <= num_cores && wanted <= share;
  for (long i = 0; i < wanted; ++i) {
    result.cores.push_back(cores[static_cast<std::size_t>((begin + i) % num_cores)]);
  }
  return result;
}

bool bind_this_thread(const std::vector<Core>& cores) {
  int last_cpu = 0;
  for (const Core& core : cores) {
    for (const int cpu : core.cpus) last_cpu = std::max(last_cpu, cpu);
  }
  const std::size_t num_cpus = static_cast<std::size_t>(last_cpu) + 1;
  const auto free_set = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(free_set)> set(CPU_ALLOC(num_cpus), free_set);
  CPU_ZERO_S(CPU_ALLOC_SIZE(num_cpus), set.get());
  for (const Core& core : cores) {
    for (const int cpu : core.cpus) CPU_SET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(num_cpus), set.get());
  }
  return sched_setaffinity(0, CPU_ALLOC_SIZE(num_cpus), set.get()) == 0;
}

std::string describe_cpus(const std::vector<Core>& cores) {
  std::vector<int> cpus;
  for (const Core& core : cores) cpus.insert(cpus.end(), core.cpus.begin(), core.cpus.end());
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace trireme::device
