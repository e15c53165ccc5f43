// StopSignals: SIGTERM, SIGINT and SIGUSR1 as something to ask for, rather than something that interrupts. A command
// that ends in order when it is told to blocks them in every thread, before MPI starts its own.
#pragma once

#include <optional>

namespace trireme::launch {

enum class StopSignal {
  kStop,   // SIGTERM, SIGINT: end at once, in order
  kDrain,  // SIGUSR1: begin nothing new, and end; Slurm can send it some time before a job's limit
};

// For this thread and all that it starts from now on.
void block_stop_signals();

class StopSignals {
 public:
  // After block_stop_signals(); what has arrived since is not lost. Throws std::system_error.
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The next signal that has arrived; never waits.
  std::optional<StopSignal> poll();

 private:
  int descriptor_;
};

}  // namespace trireme::launch
