// PlanBroadcast: rank 0 sends each step's plan to all ranks of the replica ahead of the work, without waiting for the
// slowest, into receives that are posted in advance. Point to point (a tree over hosts belongs here when there are
// many).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parallel/control_channel.h"

namespace trireme::parallel {

class PlanBroadcast {
 public:
  // Rank 0, communication thread. `destinations` are the replica's ranks, possibly rank 0 itself.
  PlanBroadcast(MessageLoop& loop, std::span<const int> destinations, std::uint32_t epoch);
  void send(std::span<const std::byte> plan);
  bool all_sent() const;

 private:
  std::vector<std::unique_ptr<ControlSender>> senders_;
};

}  // namespace trireme::parallel
