// The ladder: which optimisation helps, measured by adding one after the other to the same workload.
#pragma once

#include <string>

#include "launch/bench/ladder/ladder_options.h"
#include "launch/command.h"

namespace trireme::launch {

// Prints a table to standard output, a line as each rung ends. Collective over all ranks; returns an ExitCode, the same
// on each. `json_path`: empty: no file.
int run_ladder(const CommandContext& context, const LadderOptions& options, const std::string& json_path);

}  // namespace trireme::launch
