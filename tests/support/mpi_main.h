// The MPI world of a test program that has mpi_main.cc for its main.
#pragma once

#include "parallel/communicator.h"

namespace trireme::test {

parallel::Communicator& mpi_world();

}  // namespace trireme::test
