// ResultReturn: every stage of every replica sends each step's result to rank 0, which merges them. Rank 0 is itself a
// stage. The messages' content is the caller's; they are control messages (control_channel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parallel/control_channel.h"

namespace trireme::parallel {

// On every rank. One thread, always the same: its compute thread, say.
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
    int rank;
    std::vector<std::byte> bytes;
  };

  // From all ranks of the loop's communicator.
  ResultCollector(MessageLoop& loop, std::uint32_t epoch);
  // The next result of any rank, in turn; those of one rank in the order in which they were sent. Throws
  // ParallelError.
  std::optional<Result> try_receive();

 private:
  std::vector<std::unique_ptr<ControlReceiver>> receivers_;
  std::size_t next_ = 0;  // the rank to be asked first
};

}  // namespace trireme::parallel
