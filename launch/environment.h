// The process's environment: the only place where it is read.
#pragma once

#include <map>
#include <string>

namespace trireme::launch {

bool environment_has(const char* name);

// All variables whose names begin with TRIREME_.
std::map<std::string, std::string> trireme_variables();

// This process's rank as its launcher (mpirun, srun) set it, before MPI starts; 0 if there is none.
int rank_from_launcher();

}  // namespace trireme::launch
