// In-process communicators: threads of one process act as ranks. Used for one rank alone and in tests.
#pragma once

#include <memory>
#include <vector>

#include "parallel/communicator.h"

namespace trireme::parallel {

// One communicator per rank, sharing mailboxes; each is used by its own thread. Messages are copied.
std::vector<std::unique_ptr<Communicator>> make_in_process_communicators(int num_ranks);

}  // namespace trireme::parallel
