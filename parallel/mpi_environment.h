// MpiEnvironment: owner of MPI_Init_thread … MPI_Finalize, and the communicator over MPI_COMM_WORLD.
#pragma once

#include <memory>
#include <string>

#include "parallel/communicator.h"

namespace trireme::parallel {

// True if this process was started by mpirun or srun (so that MPI must be initialised); reads the launcher's variables
// out of `environment_has`, since only launch reads the environment.
bool launched_by_mpi(bool (*environment_has)(const char* name));

class MpiEnvironment {
 public:
  // Checks that the library gives MPI_THREAD_MULTIPLE (needed only for abort from a watchdog). Throws ParallelError.
  MpiEnvironment(int* argc, char*** argv);
  // Finalises, unless the stack is being unwound by an exception: then peers cannot be expected to take part.
  ~MpiEnvironment();
  MpiEnvironment(const MpiEnvironment&) = delete;
  MpiEnvironment& operator=(const MpiEnvironment&) = delete;

  std::unique_ptr<Communicator> world();
  int local_rank() const;  // among the ranks on this host
  int local_size() const;
  static std::string host_name();
  static std::string library_version();

  // Ends the whole job with this exit code; any thread; does not return.
  [[noreturn]] static void abort(int exit_code);

 private:
  int local_rank_ = 0, local_size_ = 1;
};

}  // namespace trireme::parallel
