#include "launch/rank_main.h"

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "launch/config_agreement.h"
#include "launch/end_watchdog.h"
#include "launch/environment.h"
#include "launch/exit_codes.h"
#include "launch/failure_text.h"
#include "launch/log.h"
#include "launch/stop_signals.h"
#include "parallel/error.h"
#include "parallel/in_process_communicator.h"
#include "parallel/mpi_environment.h"
#include "runtime/config/print.h"

namespace trireme::launch {
namespace {

struct Place {
  int local_rank = 0, local_size = 1;
  bool bound_by_launcher = false;
};

int run_command(const CommandLine& command_line, parallel::Communicator& world, const Place& place, Log& log) {
  log.set_place({.rank = world.rank(), .size = world.size()});
  const base::Result<config::ResolvedConfig> config = agree_on_config(world, command_line, trireme_variables());
  if (!config) {
    if (world.rank() == 0) log.error(config.error().message);
    return kUsage;
  }
  if (command_line.print_config) {
    if (world.rank() == 0) std::cout << config::to_annotated_yaml(*config) << std::flush;
    return kSuccess;
  }
  const CommandContext context{.config = *config,
                               .world = world,
                               .log = log,
                               .local_rank = place.local_rank,
                               .local_size = place.local_size,
                               .host = parallel::MpiEnvironment::host_name(),
                               .bound_by_launcher = place.bound_by_launcher};
  const int exit_code = command_line.run(context);
  if (std::cout.flush()) return exit_code;
  log.error("standard output: writing failed (disk full, or its reader is gone)");
  return kFailure;
}

int run_under_mpi(const CommandLine& command_line, int argc, char** argv, Log& log) {
  constexpr std::chrono::seconds kEndLimit{10};
  EndWatchdog watchdog(log);  // outlives the environment, whose destructor waits for all ranks
  parallel::MpiEnvironment environment(&argc, &argv);
  const std::unique_ptr<parallel::Communicator> world = environment.world();
  const Place place{environment.local_rank(), environment.local_size(), environment_has("OMPI_COMM_WORLD_SIZE")};
  const int exit_code = run_command(command_line, *world, place, log);
  watchdog.start(kEndLimit);
  return exit_code;
}

int run_alone(const CommandLine& command_line, Log& log) {
  const auto communicators = parallel::make_in_process_communicators(1);
  return run_command(command_line, *communicators.front(), {}, log);
}

// Logs the exception under way, in one line.
int log_failure(Log& log) {
  log.error("on " + parallel::MpiEnvironment::host_name() + ": " + failure_text(std::current_exception()));
  try {
    throw;
  } catch (const parallel::ParallelError&) {
    return kRankLost;
  } catch (...) {
    return kFailure;
  }
}

}  // namespace

int rank_main(const CommandLine& command_line, int argc, char** argv) {
  if (command_line.signals == Signals::kForCommand) block_stop_signals();
  const bool under_mpi = parallel::launched_by_mpi(environment_has);
  Log log;
  int exit_code = kSuccess;
  try {
    return under_mpi ? run_under_mpi(command_line, argc, argv, log) : run_alone(command_line, log);
  } catch (...) {
    exit_code = log_failure(log);
  }
  // Other ranks may wait for this one in vain: end them all.
  if (under_mpi) parallel::MpiEnvironment::abort(exit_code);
  return exit_code;
}

}  // namespace trireme::launch
