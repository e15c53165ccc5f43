// The heartbeat's start: every rank but 0 gets a connection to rank 0, which both sides have authenticated.
#pragma once

#include <string>
#include <vector>

#include "parallel/heartbeat_protocol.h"

namespace trireme::parallel {

struct HeartbeatPeers {
  std::vector<std::string> hosts;  // [size], by rank
  std::vector<HeartbeatConnection>
      connections;  // on rank 0: [size], that of rank 0 itself unused; elsewhere: to rank 0
};

// Collective over all ranks. Rank 0 listens on all addresses, tells them and a random token through the communicator;
// the others try them in turn (loopback first on rank 0's host). Whoever does not show the token is dropped. The
// listener is closed at the end. Throws ParallelError, naming the rank, if a connection is missing after `limit`.
HeartbeatPeers connect_heartbeats(Communicator& communicator, std::chrono::milliseconds limit);

}  // namespace trireme::parallel
