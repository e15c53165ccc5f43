#include "parallel/mpi_environment.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>

#include "base/check.h"
#include "parallel/error.h"
#include "parallel/mpi_communicator.h"

namespace trireme::parallel {

bool launched_by_mpi(bool (*environment_has)(const char* name)) {
  // Open MPI's mpirun; any launcher that speaks PMIx (srun --mpi=pmix); PMI-1 and PMI-2. SLURM_PROCID says nothing: a
  // batch script has it too.
  constexpr std::array kVariables{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  return std::any_of(kVariables.begin(), kVariables.end(), environment_has);
}

MpiEnvironment::MpiEnvironment(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread", -1);
  int rank = -1;
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", rank);
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank", rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    throw ParallelError("rank " + std::to_string(rank) + ": MPI_Init_thread gives thread level " +
                        std::to_string(provided) + ", and MPI_THREAD_MULTIPLE (" + std::to_string(MPI_THREAD_MULTIPLE) +
                        ") is needed; use an MPI library built with it");
  }
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type", rank);
  check_mpi(MPI_Comm_rank(host, &local_rank_), "MPI_Comm_rank", rank);
  check_mpi(MPI_Comm_size(host, &local_size_), "MPI_Comm_size", rank);
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free", rank);
}

MpiEnvironment::~MpiEnvironment() {
  if (std::uncaught_exceptions() == 0) MPI_Finalize();
}

std::unique_ptr<Communicator> MpiEnvironment::world() {
  return std::make_unique<MpiCommunicator>(MPI_COMM_WORLD);
}

int MpiEnvironment::local_rank() const {
  return local_rank_;
}
int MpiEnvironment::local_size() const {
  return local_size_;
}

std::string MpiEnvironment::host_name() {
  std::array<char, 256> name{};
  TRIREME_CHECK(::gethostname(name.data(), name.size() - 1) == 0);
  return name.data();
}

std::string MpiEnvironment::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version", -1);
  return text.data();
}

void MpiEnvironment::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace trireme::parallel
