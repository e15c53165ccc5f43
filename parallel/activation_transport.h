// ActivationTransport: hidden states from one stage to the next, point to point and ordered on a stream. Owned by the
// stage worker; called by its compute thread only.
//
// A buffer holds a step's hidden states and, behind them, kTrailerBytes that are the transport's. The caller owns the
// buffers and double-buffers them: it starts the receive for step n+1 before it computes step n,
// and reuses a send buffer only after wait_send of the step that used it. Implementations: over a Communicator (in
// process and MPI, host memory); NCCL's (device memory) enqueues on the stream instead of waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/stream.h"

namespace trireme::parallel {

class ActivationTransport {
 public:
  static constexpr std::size_t kTrailerBytes = 48;

  virtual ~ActivationTransport() = default;

  // Starts receiving step's hidden states from the previous stage; returns at once. Steps ascend by one.
  virtual void start_receive(std::uint64_t step, std::span<std::byte> buffer) = 0;
  // Returns when step's hidden states begin to arrive, where the transport can tell, else at once: what a stage waits
  // here it waits for the previous stage, not for the network. Optional before wait_receive.
  virtual void wait_arrival(std::uint64_t step) = 0;
  // Work enqueued on `stream` afterwards sees the data. Throws ParallelError if step or size differ from what was sent.
  virtual void wait_receive(std::uint64_t step, base::Stream stream) = 0;

  // Sends to the next stage after the work enqueued on `stream` so far; returns at once.
  virtual void start_send(std::uint64_t step, std::span<std::byte> buffer, base::Stream stream) = 0;
  // Work enqueued on `stream` afterwards may overwrite that step's buffer.
  virtual void wait_send(std::uint64_t step, base::Stream stream) = 0;
};

}  // namespace trireme::parallel
