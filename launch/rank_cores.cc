#include "launch/rank_cores.h"

#include <algorithm>

namespace trireme::launch {
namespace {

struct HostShares {
  std::vector<device::Core> cores;  // that this process may use
  bool divided = false;             // by the launcher, so that all of them are this rank's
};

HostShares host_shares(const CommandContext& context) {
  const auto binding = context.bound_by_launcher ? device::Binding::kIgnore : device::Binding::kRespect;
  HostShares shares{device::host_cores(binding), false};
  // srun gives each rank cores of its own: then they are not to be divided again.
  shares.divided = !context.bound_by_launcher && context.local_size > 1 &&
                   shares.cores.size() < device::host_cores(device::Binding::kIgnore).size();
  return shares;
}

}  // namespace

device::RankCores cores_of_this_rank(const CommandContext& context) {
  const HostShares shares = host_shares(context);
  const int threads = context.config.config.device.threads;
  if (shares.divided) return device::cores_for_rank(shares.cores, 0, 1, threads);
  return device::cores_for_rank(shares.cores, context.local_rank, context.local_size, threads);
}

std::vector<device::Core> cores_of_job_on_host(const CommandContext& context) {
  HostShares shares = host_shares(context);
  const int threads = context.config.config.device.threads;
  std::vector<device::Core> used;
  const auto add = [&](const std::vector<device::Core>& cores) {
    for (const device::Core& core : cores) {
      if (std::find(used.begin(), used.end(), core) == used.end()) used.push_back(core);
    }
  };
  if (shares.divided) {
    // Those of the other ranks are not known here, but they are as many.
    const std::size_t each = device::cores_for_rank(shares.cores, 0, 1, threads).cores.size();
    add(device::host_cores(device::Binding::kIgnore));
    used.resize(std::min(used.size(), each * static_cast<std::size_t>(context.local_size)));
    return used;
  }
  for (int rank = 0; rank < context.local_size; ++rank) {
    add(device::cores_for_rank(shares.cores, rank, context.local_size, threads).cores);
  }
  return used;
}

}  // namespace trireme::launch
