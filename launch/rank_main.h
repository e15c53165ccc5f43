// rank_main: one rank from its start to its exit code. Starts MPI if a launcher started this process, brings all ranks
// to one configuration and runs the command. The one place where exceptions end: they are logged, and end the whole
// job.
#pragma once

#include "launch/command_line.h"

namespace trireme::launch {

int rank_main(const CommandLine& command_line, int argc, char** argv);

}  // namespace trireme::launch
