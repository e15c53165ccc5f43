#include "parallel/communicator_transport.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using test::for_each_rank;
using test::with_compute_thread;

constexpr std::uint32_t kEpoch = 5;

PipelineNeighbours neighbours_of(const Communicator& communicator) {
  PipelineNeighbours neighbours;
  if (communicator.rank() > 0) neighbours.previous = communicator.rank() - 1;
  if (communicator.rank() + 1 < communicator.size()) neighbours.next = communicator.rank() + 1;
  return neighbours;
}

std::size_t step_bytes(std::uint64_t step) {
  if (step % 3 == 0) return 300'000;  // three messages
  return 2304 * (1 + step % 5);
}

class CommunicatorTransportTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorTransportTest, testing::ValuesIn(test::rank_counts()));

// A stage as the stage worker runs it: the receive of the next step starts before this one computes, and a send buffer
// is used again two steps later. "Computing" adds one to every byte.
void run_stage(CommunicatorTransport& transport, const PipelineNeighbours& neighbours, std::uint64_t num_steps) {
  std::array<std::vector<std::byte>, 2> in, out;
  const auto start_receive = [&](std::uint64_t step) {
    in[step % 2].resize(step_bytes(step) + CommunicatorTransport::kTrailerBytes);
    transport.start_receive(step, in[step % 2]);
  };
  if (neighbours.previous) start_receive(0);
  for (std::uint64_t step = 0; step < num_steps; ++step) {
    if (neighbours.previous) {
      if (step + 1 < num_steps) start_receive(step + 1);
      if (step % 2 == 0) transport.wait_arrival(step);  // which one may, and need not
      transport.wait_receive(step, {});
      EXPECT_EQ(in[step % 2][0], static_cast<std::byte>(step + static_cast<std::uint64_t>(*neighbours.previous)));
    }
    if (!neighbours.next) continue;
    auto& buffer = out[step % 2];
    if (step >= 2) transport.wait_send(step - 2, {});
    const std::byte first = neighbours.previous ? in[step % 2][0] : static_cast<std::byte>(step - 1);
    buffer.assign(step_bytes(step) + CommunicatorTransport::kTrailerBytes,
                  static_cast<std::byte>(std::to_integer<int>(first) + 1));
    transport.start_send(step, buffer, {});
  }
  for (std::uint64_t step = num_steps - 2; neighbours.next && step < num_steps; ++step) transport.wait_send(step, {});
}

TEST_P(CommunicatorTransportTest, HiddenStatesPassThroughAllStages) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    const auto neighbours = neighbours_of(communicator);
    CommunicatorTransport transport(loop, neighbours, kEpoch);
    with_compute_thread(loop, [&] { run_stage(transport, neighbours, 40); });
  });
}

}  // namespace
}  // namespace trireme::parallel
