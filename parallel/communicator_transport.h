// CommunicatorTransport: the ActivationTransport of host memory, over a MessageLoop (in process or MPI). A step's
// hidden states go as two messages on one tag: a header of 48 bytes (epoch, step, size, checksum, ranks), then the
// payload straight from the sender's buffer into the receiver's. A header of its own costs less than a copy of the
// payload, and keeps the caller's buffers aligned and free of a header area.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "parallel/activation_transport.h"
#include "parallel/message_loop.h"

namespace trireme::parallel {

struct PipelineNeighbours {
  std::optional<int> previous, next;  // ranks; none before the first and after the last stage
};

class CommunicatorTransport : public ActivationTransport {
 public:
  // One transport per pair of ranks for the life of the loop. Buffers under way outlive the loop, or are done with.
  CommunicatorTransport(MessageLoop& loop, PipelineNeighbours neighbours, std::uint32_t epoch);
  ~CommunicatorTransport() override;

  // Compute thread. Steps ascend; sends are waited for in their order, like receives. All waits throw ParallelError.
  void start_receive(std::uint64_t step, std::span<std::byte> buffer) override;
  void wait_arrival(std::uint64_t step) override;
  void wait_receive(std::uint64_t step, base::Stream stream) override;
  void start_send(std::uint64_t step, std::span<const std::byte> buffer, base::Stream stream) override;
  void wait_send(std::uint64_t step, base::Stream stream) override;

 private:
  struct Header;
  struct Transfer;

  void verify_header(const Transfer& transfer) const;
  void verify_payload(const Transfer& transfer) const;
  void expect_equal(const Transfer& transfer, const char* what, std::uint64_t received, std::uint64_t expected) const;

  MessageLoop& loop_;
  PipelineNeighbours neighbours_;
  std::uint32_t epoch_;
  std::deque<Transfer> receiving_, sending_;  // in order of steps
};

}  // namespace trireme::parallel
