#include "parallel/message_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "parallel/error.h"
#include "parallel/in_process_communicator.h"
#include "tests/parallel/bytes.h"
#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;
using test::for_each_rank;
using test::make_bytes;
using test::poll_until;
using test::with_compute_thread;

class MessageLoopTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, MessageLoopTest, testing::ValuesIn(test::rank_counts()));

TEST_P(MessageLoopTest, ComputeThreadsPassMessagesRoundTheRing) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    const int size = communicator.size(), rank = communicator.rank();
    with_compute_thread(loop, [&] {
      for (int round = 0; round < 50; ++round) {
        const auto out = make_bytes(static_cast<std::size_t>(round * 331), rank + 10 * round);
        std::vector<std::byte> in(out.size());
        auto received = loop.post_receive(in, (rank + size - 1) % size, Tag::kActivation);
        auto sent = loop.post_send(out, (rank + 1) % size, Tag::kActivation);
        received.wait();
        sent.wait();
        EXPECT_EQ(received.received_bytes(), in.size());
        EXPECT_EQ(in, make_bytes(in.size(), (rank + size - 1) % size + 10 * round));
      }
    });
  });
}

TEST_P(MessageLoopTest, OperationsOfOneChannelKeepTheirOrder) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    constexpr std::size_t kMessages = 40;
    std::vector<std::vector<std::byte>> out, in;
    std::vector<MessageLoop::Ticket> receives, sends;
    for (std::size_t i = 0; i < kMessages; ++i) {
      // Sizes on both sides of MPI's eager limit, so that a later message could overtake.
      out.push_back(make_bytes(i % 2 == 0 ? 100'000 : 10, static_cast<int>(i)));
      in.emplace_back(out.back().size());
    }
    for (std::size_t i = 0; i < kMessages; ++i) {
      receives.push_back(loop.post_receive(in[i], communicator.rank(), Tag::kPlan));
      sends.push_back(loop.post_send(out[i], communicator.rank(), Tag::kPlan));
    }
    poll_until(loop, [&] { return receives.back().done() && sends.back().done(); });
    EXPECT_EQ(in, out);
  });
}

TEST_P(MessageLoopTest, TooLongMessageFailsItsTicketAndNotTheLoop) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    with_compute_thread(loop, [&] {
      const auto message = make_bytes(16, 1);
      std::vector<std::byte> small(8), large(16);
      auto fails = loop.post_receive(small, communicator.rank(), Tag::kPlan);
      auto works = loop.post_receive(large, communicator.rank(), Tag::kPlan);
      auto first = loop.post_send(message, communicator.rank(), Tag::kPlan);
      auto second = loop.post_send(message, communicator.rank(), Tag::kPlan);
      EXPECT_THROW(fails.wait(), ParallelError);
      EXPECT_THROW(static_cast<void>(fails.done()), ParallelError);
      works.wait();
      EXPECT_EQ(large, message);
      first.wait();
      second.wait();
    });
  });
}

TEST_P(MessageLoopTest, FailureEndsWaitsNowAndLater) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    std::vector<std::byte> buffer(8);
    auto never = loop.post_receive(buffer, communicator.rank(), Tag::kPlan);
    std::thread failing([&] {
      std::this_thread::sleep_for(5ms);
      loop.fail("rank 7 is lost");
      loop.fail("a later reason");
    });
    with_compute_thread(loop, [&] {
      for (int i = 0; i < 2; ++i) {
        try {
          never.wait();
          ADD_FAILURE() << "the wait ended";
        } catch (const ParallelError& error) {
          EXPECT_STREQ(error.what(), "rank 7 is lost");
        }
      }
    });
    failing.join();
  });
}

TEST(MessageLoop, WaitsOfAStoppedLoopThrow) {
  auto communicators = make_in_process_communicators(1);
  std::vector<std::byte> buffer(8);
  auto loop = std::make_unique<MessageLoop>(*communicators[0]);
  auto ticket = loop->post_receive(buffer, 0, Tag::kPlan);
  std::thread waiting([&] { EXPECT_THROW(ticket.wait(), ParallelError); });
  std::this_thread::sleep_for(5ms);
  loop.reset();
  waiting.join();
}

TEST(MessageLoop, KeepsWhatAnUnfinishedOperationUses) {
  auto communicators = make_in_process_communicators(1);
  auto loop = std::make_unique<MessageLoop>(*communicators[0]);
  auto buffer = std::make_shared<std::vector<std::byte>>(8);
  const std::weak_ptr<std::vector<std::byte>> watched = buffer;
  loop->post_receive(*buffer, 0, Tag::kPlan, buffer);
  loop->poll();
  buffer.reset();
  EXPECT_FALSE(watched.expired());
  loop.reset();
  EXPECT_TRUE(watched.expired());
}

std::atomic<bool> frozen{false}, thawed{false};

void freeze_until_thawed(int) {
  frozen = true;
  while (!thawed) {
  }
}

bool is_asleep(int thread_id) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread_id) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  return text.find(") S ") != std::string::npos;
}

TEST(MessageLoop, TellsThatAFrozenThreadDoesNotTakeWhatItWaitedFor) {
  ::signal(SIGUSR1, freeze_until_thawed);
  auto communicators = make_in_process_communicators(1);
  MessageLoop loop(*communicators[0]);
  const auto out = make_bytes(10, 1);
  std::vector<std::byte> in(10);
  const auto received = loop.post_receive(in, 0, Tag::kPlan);
  std::atomic<int> thread_id{0};
  std::thread waiter([&] {
    thread_id = ::gettid();
    received.wait();
  });
  while (thread_id == 0 || !is_asleep(thread_id)) std::this_thread::yield();
  EXPECT_FALSE(loop.has_due_waiter());
  ::pthread_kill(waiter.native_handle(), SIGUSR1);
  while (!frozen) std::this_thread::yield();

  const auto sent = loop.post_send(out, 0, Tag::kPlan);
  poll_until(loop, [&] { return received.done() && sent.done(); });
  EXPECT_TRUE(loop.has_due_waiter());

  thawed = true;
  waiter.join();
  EXPECT_FALSE(loop.has_due_waiter());
  ::signal(SIGUSR1, SIG_DFL);
}

TEST(MessageLoop, PostAndWakeEndAnIdleSleepAtOnce) {
  auto communicators = make_in_process_communicators(1);
  MessageLoop loop(*communicators[0]);
  std::vector<std::byte> buffer(8);
  for (const bool by_post : {true, false}) {
    std::thread other([&] {
      std::this_thread::sleep_for(10ms);
      if (by_post) {
        loop.post_receive(buffer, 0, Tag::kPlan);
      } else {
        loop.wake();
      }
    });
    const auto start = std::chrono::steady_clock::now();
    loop.idle(true, 60s);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
    other.join();
  }
}

TEST(MessageLoop, IdleSleepIsBoundedWhileAnOperationIsUnderWay) {
  auto communicators = make_in_process_communicators(1);
  MessageLoop loop(*communicators[0]);
  std::vector<std::byte> buffer(8);
  loop.post_receive(buffer, 0, Tag::kPlan);
  loop.poll();
  const auto start = std::chrono::steady_clock::now();
  loop.idle(true, 60s);
  loop.idle(false, 60s);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

}  // namespace
}  // namespace trireme::parallel
