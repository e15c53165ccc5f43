// ResultReturn: the last stage of each replica sends every step's result to rank 0, which merges them. Rank 0 may
// itself be a last stage. The messages' content is the caller's; they are control messages (control_channel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parallel/control_channel.h"

namespace trireme::parallel {

// On a last stage. One thread, always the same: its compute thread, say.
class ResultSender {
 public:
  ResultSender(MessageLoop& loop, std::uint32_t epoch);
  void send(std::span<const std::byte> result);  // copies and returns at once
  bool all_sent() const;

 private:
  ControlSender sender_;
};

// On rank 0, communication thread.
class ResultCollector {
 public:
  struct Result {
    int replica;  // index into `last_stages`
    std::vector<std::byte> bytes;
  };

  // `last_stages`: the rank of each replica's last stage.
  ResultCollector(MessageLoop& loop, std::span<const int> last_stages, std::uint32_t epoch);
  // The next result of any replica, in turn; those of one replica in the order in which they were sent. Throws
  // ParallelError.
  std::optional<Result> try_receive();

 private:
  std::vector<std::unique_ptr<ControlReceiver>> receivers_;
  std::size_t next_ = 0;  // the replica to be asked first
};

}  // namespace trireme::parallel
