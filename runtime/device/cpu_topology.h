// The physical cores of this host, and how the ranks on it divide them. mpirun binds each rank to one core unless told
// otherwise, so a rank looks at the whole host, takes its share, and binds itself.
#pragma once

#include <string>
#include <vector>

namespace trireme::device {

// One physical core: its logical CPUs (one, or several with simultaneous multithreading), as the kernel numbers them.
struct Core {
  std::vector<int> cpus;
  bool operator==(const Core&) const = default;
};

enum class Binding {
  kRespect,  // only CPUs to which this process is bound now: started by a user, perhaps under taskset
  kIgnore,   // all CPUs of the host and of the control group: started, and bound, by mpirun
};

// Neighbours in the list are neighbours in the machine (same package and NUMA node first). At least one core.
std::vector<Core> host_cores(Binding binding);

// The cores of a described machine, in hwloc's notation ("pack:2 core:4 pu:2"); for tests.
std::vector<Core> synthetic_cores(const std::string& description);

struct RankCores {
  std::vector<Core> cores;  // one per thread
  bool exclusive = true;    // no other thread or rank of this job was given one of them: binding to them helps
};

// The share of rank `local_rank` of the `local_size` ranks on this host. `threads` is the number asked for; 0: an equal
// share of the cores, at least one. Where ranks ask for more than there is, they share cores.
RankCores cores_for_rank(const std::vector<Core>& cores, int local_rank, int local_size, int threads);

// Binds the calling thread to all logical CPUs of `cores`. False if the kernel refuses; the thread then runs as before.
bool bind_this_thread(const std::vector<Core>& cores);

// The logical CPUs as ranges, for messages: "0-3,8".
std::string describe_cpus(const std::vector<Core>& cores);

}  // namespace trireme::device
