#include "base/check.h"
#include "tests/support/mpi_main.h"
#include "tests/support/ranks.h"

namespace trireme::test {

std::vector<int> rank_counts() {
  return {mpi_world().size()};
}

void for_each_rank(int num_ranks, const std::function<void(parallel::Communicator&)>& body) {
  TRIREME_CHECK(num_ranks == mpi_world().size()) << num_ranks;
  body(mpi_world());
  mpi_world().barrier();  // messages of one test do not meet receives of the next
}

}  // namespace trireme::test
