// Which cores of its host a rank computes on.
#pragma once

#include <vector>

#include "launch/command.h"
#include "runtime/device/cpu_topology.h"

namespace trireme::launch {

device::RankCores cores_of_this_rank(const CommandContext& context);

// Those of all ranks on this host together, each once.
std::vector<device::Core> cores_of_job_on_host(const CommandContext& context);

}  // namespace trireme::launch
