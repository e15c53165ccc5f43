#include "parallel/control_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/error.h"
#include "parallel/in_process_communicator.h"
#include "tests/parallel/bytes.h"
#include "tests/support/faulty_communicator.h"
#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using test::Fault;
using test::for_each_rank;
using test::make_bytes;
using test::poll_until;
using test::with_compute_thread;

constexpr std::uint32_t kEpoch = 7;

class ControlChannelTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ControlChannelTest, testing::ValuesIn(test::rank_counts()));

// Sizes about the limits of one, two and three frames, and none.
std::vector<std::size_t> message_sizes() {
  constexpr std::size_t kPayload = kControlFrameBytes - 56;
  return {0, 1, 100, kPayload - 1, kPayload, kPayload + 1, 2 * kPayload, 2 * kPayload + 1, 1'000'000, 3, 0};
}

TEST_P(ControlChannelTest, MessagesOfAnyLengthArriveWholeAndInOrder) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    const int size = communicator.size(), rank = communicator.rank();
    const int previous = (rank + size - 1) % size;
    ControlReceiver receiver(loop, previous, Tag::kPlan, kEpoch);
    ControlSender sender(loop, (rank + 1) % size, Tag::kPlan, kEpoch);
    for (const std::size_t bytes : message_sizes()) sender.send(make_bytes(bytes, rank));
    for (const std::size_t bytes : message_sizes()) {
      std::optional<std::vector<std::byte>> message;
      poll_until(loop, [&] { return (message = receiver.try_receive()).has_value(); });
      EXPECT_EQ(*message, make_bytes(bytes, previous));
    }
    poll_until(loop, [&] { return sender.all_sent(); });
  });
}

TEST_P(ControlChannelTest, ComputeThreadWaitsForMessages) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    const int size = communicator.size(), rank = communicator.rank();
    with_compute_thread(loop, [&] {
      ControlReceiver receiver(loop, (rank + size - 1) % size, Tag::kResult, kEpoch, 1);
      ControlSender sender(loop, (rank + 1) % size, Tag::kResult, kEpoch);
      for (const std::size_t bytes : message_sizes()) {
        sender.send(make_bytes(bytes, rank));
        EXPECT_EQ(receiver.receive(), make_bytes(bytes, (rank + size - 1) % size));
      }
      while (!sender.all_sent()) std::this_thread::yield();
    });
  });
}

// One rank sends to itself through a network that harms one frame.
class Harmed {
 public:
  Harmed(int nth, Fault fault, std::uint32_t sender_epoch = kEpoch)
      : communicators_(make_in_process_communicators(1)),
        network_(*communicators_[0], Tag::kPlan, nth, fault),
        loop_(network_),
        receiver_(loop_, 0, Tag::kPlan, kEpoch, 8),
        sender_(loop_, 0, Tag::kPlan, sender_epoch) {}

  ControlSender& sender() { return sender_; }
  std::vector<std::byte> receive() {
    std::optional<std::vector<std::byte>> message;
    poll_until(loop_, [&] { return (message = receiver_.try_receive()).has_value(); });
    return *message;
  }
  bool receives_anything_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      if (!loop_.poll()) loop_.idle(false, std::chrono::milliseconds(1));
      if (receiver_.try_receive()) return true;
    }
    return false;
  }
  std::string error_of_receive() {
    try {
      receive();
    } catch (const ParallelError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::vector<std::unique_ptr<Communicator>> communicators_;
  test::FaultyCommunicator network_;
  MessageLoop loop_;
  ControlReceiver receiver_;
  ControlSender sender_;
};

TEST(ControlChannelFaults, FlippedBitIsNoticedWhereverItIs) {
  for (const std::size_t bytes : {0u, 20u, 56u, 1000u, 32'712u}) {
    Harmed channel(0, Fault::kFlipBit);
    channel.sender().send(make_bytes(bytes, 1));
    EXPECT_THAT(channel.error_of_receive(), testing::HasSubstr("plan message from rank 0 to rank 0"));
  }
}

TEST(ControlChannelFaults, LostDuplicatedSwappedAndCutFramesAreNoticed) {
  for (const Fault fault : {Fault::kDrop, Fault::kDuplicate, Fault::kSwapWithNext, Fault::kTruncate}) {
    for (const std::size_t bytes : {10u, 100'000u}) {  // harms a whole message, or a frame amidst one
      Harmed channel(1, fault);
      for (int i = 0; i < 4; ++i) channel.sender().send(make_bytes(bytes, i));
      std::string error = "no error";
      for (int i = 0; i < 4 && error == "no error"; ++i) error = channel.error_of_receive();
      EXPECT_THAT(error, testing::AllOf(testing::HasSubstr("rank 0 sent"), testing::HasSubstr("rank 0 expects")))
          << "fault " << static_cast<int>(fault) << ", " << bytes << " bytes";
    }
  }
}

TEST(ControlChannelFaults, DelayedFrameIsNoFault) {
  Harmed channel(1, Fault::kDelay);
  for (int i = 0; i < 3; ++i) channel.sender().send(make_bytes(100'000, i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(channel.receive(), make_bytes(100'000, i));
}

TEST(ControlChannelFaults, LastFrameThatIsLostGivesNoMessage) {
  Harmed channel(3, Fault::kDrop);
  channel.sender().send(make_bytes(100'000, 1));  // 4 frames
  EXPECT_FALSE(channel.receives_anything_for(std::chrono::milliseconds(20)));
}

TEST(ControlChannelFaults, OtherEpochIsRefusedNamingBoth) {
  Harmed channel(0, Fault::kNone, kEpoch - 1);
  channel.sender().send(make_bytes(10, 1));
  EXPECT_THAT(channel.error_of_receive(), testing::HasSubstr("epoch differs: rank 0 sent 6, rank 0 expects 7"));
}

}  // namespace
}  // namespace trireme::parallel
