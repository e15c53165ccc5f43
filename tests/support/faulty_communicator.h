// FaultyCommunicator: a Communicator that does to chosen sends what a bad network would do. For tests.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "parallel/communicator.h"

namespace trireme::test {

enum class Fault { kNone, kDrop, kDelay, kDuplicate, kFlipBit, kTruncate, kSwapWithNext };

class FaultyCommunicator : public parallel::Communicator {
 public:
  // Does `fault` to the send with number `nth`, counted from 0 among those with `tag`; others pass unharmed.
  FaultyCommunicator(parallel::Communicator& inner, parallel::Tag tag, int nth, Fault fault)
      : inner_(inner), tag_(tag), nth_(nth), fault_(fault) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::unique_ptr<Operation> isend(std::span<const std::byte> bytes, int destination, parallel::Tag tag) override;
  std::unique_ptr<Operation> irecv(std::span<std::byte> bytes, int source, parallel::Tag tag) override {
    return inner_.irecv(bytes, source, tag);
  }

 private:
  parallel::Communicator& inner_;
  parallel::Tag tag_;
  int nth_;
  Fault fault_;
  int num_sends_ = 0;
  std::chrono::steady_clock::time_point delayed_until_{};
  std::vector<std::byte> held_;  // waits for the next send, to be sent after it
};

}  // namespace trireme::test
