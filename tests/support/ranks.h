// Runs the same test body on several ranks: threads of this process (in_process_ranks.cc), or the processes of an MPI
// job (mpi_ranks.cc). A test program links one of the two.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/message_loop.h"

namespace trireme::test {

// The numbers of ranks that this program can run: 1, 2, 3, 4, or only the size of the MPI world.
std::vector<int> rank_counts();

// Calls `body` on each of `num_ranks` ranks and returns when this process's are done; rethrows the first exception.
// Ranks that are not done in time end the program.
void for_each_rank(int num_ranks, const std::function<void(parallel::Communicator&)>& body);

// Drives `loop` on this thread while `body` runs on another, as a compute thread does.
void with_compute_thread(parallel::MessageLoop& loop, const std::function<void()>& body);

// Polls until `done` is true, on the communication thread.
template <typename Condition>
void poll_until(parallel::MessageLoop& loop, Condition done) {
  while (!done()) {
    if (!loop.poll()) loop.idle(false, std::chrono::milliseconds(1));
  }
}

}  // namespace trireme::test
