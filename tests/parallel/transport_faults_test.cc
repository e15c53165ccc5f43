#include "parallel/communicator_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "parallel/error.h"
#include "tests/parallel/bytes.h"
#include "tests/support/faulty_communicator.h"
#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using test::Fault;
using test::for_each_rank;
using test::make_bytes;
using test::with_compute_thread;

constexpr std::uint32_t kEpoch = 5;
constexpr std::size_t kTrailerBytes = ActivationTransport::kTrailerBytes;
constexpr std::size_t kTwoParts = CommunicatorTransport::kPartBytes + 1000;

// Rank 0 sends to rank 1.
PipelineNeighbours neighbours_of(const Communicator& communicator) {
  if (communicator.rank() == 0) return {std::nullopt, 1};
  return {0, std::nullopt};
}

// What the receiver of steps 0, 1 and 2 says when the sender's messages are harmed. A message that fails is of one
// rank.
std::string error_with(int nth, Fault fault, std::size_t bytes = 1000) {
  std::string result = "no error";
  for_each_rank(2, [&](Communicator& communicator) {
    test::FaultyCommunicator network(communicator, Tag::kActivation, nth, fault);
    std::array<std::vector<std::byte>, 3> buffers;
    for (std::size_t step = 0; step < 3; ++step)
      buffers[step] = make_bytes(bytes + kTrailerBytes, static_cast<int>(step));
    MessageLoop loop(network);
    CommunicatorTransport transport(loop, neighbours_of(communicator), kEpoch);
    with_compute_thread(loop, [&] {
      try {
        for (std::uint64_t step = 0; step < 3; ++step) {
          if (communicator.rank() == 0) transport.start_send(step, buffers[step], {});
          if (communicator.rank() == 1) transport.start_receive(step, buffers[step]);
        }
        for (std::uint64_t step = 0; step < 3; ++step) {
          if (communicator.rank() == 0) transport.wait_send(step, {});
          if (communicator.rank() == 1) transport.wait_receive(step, {});
        }
      } catch (const ParallelError& error) {
        result = error.what();
      }
    });
  });
  return result;
}

class TransportFaultTest : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Faults, TransportFaultTest,
                         testing::Values(Fault::kDrop, Fault::kDuplicate, Fault::kFlipBit, Fault::kTruncate,
                                         Fault::kSwapWithNext));

TEST_P(TransportFaultTest, HarmedHeadersAndPayloadsAreNoticedNamingBothSides) {
  // Of three steps. A lost message is noticed by what comes in its place.
  for (const int nth : {0, 1}) {
    EXPECT_THAT(error_with(nth, GetParam()), testing::HasSubstr("from rank 0 to rank 1")) << "message " << nth;
  }
  for (const int nth : {0, 1, 2, 3}) {
    EXPECT_THAT(error_with(nth, GetParam(), kTwoParts), testing::HasSubstr("from rank 0 to rank 1"))
        << "message " << nth;
  }
}

TEST(TransportFaults, NoFaultAndDelayGiveNoError) {
  for (const std::size_t bytes : {std::size_t{1000}, kTwoParts}) {
    EXPECT_EQ(error_with(0, Fault::kNone, bytes), "no error");
    for (const int nth : {0, 1, 2}) EXPECT_EQ(error_with(nth, Fault::kDelay, bytes), "no error");
  }
}

struct Mismatch {
  std::uint32_t epoch;
  std::uint64_t step;
  std::size_t bytes;
  const char* text;
};

// Sent with these instead of epoch 5, step 4, 1000 bytes.
TEST(TransportFaults, OtherEpochStepAndSizeAreRefused) {
  for (const Mismatch& sent : {Mismatch{6, 4, 1000, "epoch differs: rank 0 sent 6, rank 1 expects 5"},
                               Mismatch{5, 3, 1000, "step differs: rank 0 sent 3, rank 1 expects 4"},
                               Mismatch{5, 4, 999, "size differs: rank 0 sent 999, rank 1 expects 1000"},
                               Mismatch{5, 4, 1001, "longer than the buffer"},
                               Mismatch{5, 4, 0, "size differs: rank 0 sent 0, rank 1 expects 1000"},
                               Mismatch{5, 4, 500'000, "longer than the buffer"}}) {
    for_each_rank(2, [&](Communicator& communicator) {
      auto buffer = make_bytes((communicator.rank() == 0 ? sent.bytes : 1000) + kTrailerBytes, 1);
      MessageLoop loop(communicator);
      CommunicatorTransport transport(loop, neighbours_of(communicator), communicator.rank() == 0 ? sent.epoch : 5);
      with_compute_thread(loop, [&] {
        if (communicator.rank() == 0) {
          transport.start_send(sent.step, buffer, {});
          transport.wait_send(sent.step, {});
          return;
        }
        transport.start_receive(4, buffer);
        try {
          transport.wait_receive(4, {});
          ADD_FAILURE() << "no error instead of: " << sent.text;
        } catch (const ParallelError& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr(sent.text));
        }
      });
    });
  }
}

}  // namespace
}  // namespace trireme::parallel
