// A command of the program: `trireme NAME …`. Each lives in a file of its own and is listed in main.cc.
#pragma once

#include <functional>
#include <string>

#include "parallel/communicator.h"
#include "runtime/config/load.h"

namespace CLI {
class App;
}

namespace trireme::launch {

class Log;

// What a command finds when it runs. All ranks run the same command with an equal configuration.
struct CommandContext {
  const config::ResolvedConfig& config;
  parallel::Communicator& world;  // of size 1 when started alone
  Log& log;
  int local_rank = 0, local_size = 1;  // among the ranks on this host
  std::string host;
  bool bound_by_launcher = false;  // mpirun has bound this process to a core, unasked

  bool is_root() const { return world.rank() == 0; }
};

// Returns an ExitCode. Collective over all ranks.
using CommandFunction = std::function<int(const CommandContext&)>;

// What SIGTERM, SIGINT and SIGUSR1 do while a command runs.
enum class Signals {
  kEndProcess,  // as the system has it
  kForCommand,  // blocked in every thread from before MPI starts: the command asks for them (launch/stop_signals.h)
};

struct Command {
  std::string name, help;
  // Adds the command's own options to `app`; the function that it returns runs the command with what was parsed.
  CommandFunction (*define)(CLI::App& app);
  Signals signals = Signals::kEndProcess;
};

}  // namespace trireme::launch
