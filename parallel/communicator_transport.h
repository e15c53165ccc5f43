// CommunicatorTransport: the ActivationTransport of host memory, over a MessageLoop (in process or MPI). Hidden states
// go straight from the sender's buffer into the receiver's, in one message with the trailer behind them (epoch, step,
// size, ranks, checksum). Large ones go in several messages, so that both sides compute the checksum of one part while
// another is under way.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "parallel/activation_transport.h"
#include "parallel/message_loop.h"

namespace trireme::parallel {

struct PipelineNeighbours {
  std::optional<int> previous, next;  // ranks; none before the first and after the last stage
};

class CommunicatorTransport : public ActivationTransport {
 public:
  // Bytes of one message: so many that it travels at full speed, so few that a checksum finds them in the cache.
  static constexpr std::size_t kPartBytes = 256 * 1024;

  // One transport per pair of ranks for the life of the loop. Buffers under way outlive the loop, or are done with.
  CommunicatorTransport(MessageLoop& loop, PipelineNeighbours neighbours, std::uint32_t epoch);
  ~CommunicatorTransport() override;

  // Compute thread. Steps ascend; sends are waited for in their order, like receives. All waits throw ParallelError.
  void start_receive(std::uint64_t step, std::span<std::byte> buffer) override;
  void wait_arrival(std::uint64_t step) override;
  void wait_receive(std::uint64_t step, base::Stream stream) override;
  void start_send(std::uint64_t step, std::span<std::byte> buffer, base::Stream stream) override;
  void wait_send(std::uint64_t step, base::Stream stream) override;

 private:
  struct Trailer;
  // The messages of one step, in order; the last one ends with the trailer.
  struct Transfer {
    std::uint64_t step = 0;
    std::span<std::byte> buffer;
    std::vector<MessageLoop::Ticket> parts;

    std::span<std::byte> payload() const { return buffer.first(buffer.size() - kTrailerBytes); }
  };

  Transfer& add(std::deque<Transfer>& transfers, std::uint64_t step, std::span<std::byte> buffer);
  Transfer take(std::deque<Transfer>& transfers, std::uint64_t step);
  void recycle(Transfer transfer);
  void write_trailer(const Transfer& transfer, std::uint64_t checksum) const;
  void verify(const Transfer& transfer, std::size_t received_bytes, std::uint64_t checksum) const;
  void expect_equal(const Transfer& transfer, const char* what, std::uint64_t received, std::uint64_t expected) const;

  MessageLoop& loop_;
  PipelineNeighbours neighbours_;
  std::uint32_t epoch_;
  std::deque<Transfer> receiving_, sending_;  // in order of steps
  std::vector<Transfer> free_;                // done, kept for their memory
};

}  // namespace trireme::parallel
