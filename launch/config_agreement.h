// How all ranks come to one configuration: rank 0 reads the file and broadcasts its text; each rank resolves it with
// its own environment and command line; then they compare.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "launch/command_line.h"
#include "parallel/communicator.h"
#include "runtime/config/load.h"

namespace trireme::launch {

// Collective over all ranks. The same outcome on every rank; errors name the rank that has failed, or the first rank
// and key that differ from rank 0's.
base::Result<config::ResolvedConfig> agree_on_config(parallel::Communicator& world, const CommandLine& command_line,
                                                     const std::map<std::string, std::string>& environment);

}  // namespace trireme::launch
